#include <stdint.h>

static uint32_t rotl(uint32_t x, int r) { return (x << r) | (x >> (32 - r)); }

/* MurmurHash3 of a block of words. */
uint32_t murmur_finalise(const uint32_t data[40], uint32_t seed)
{
    uint32_t h = seed;
    for (int i = 0; i < 40; i++) {
        uint32_t k = data[i] * 0xcc9e2d51u;
        k = rotl(k, 15) * 0x1b873593u;
        h = rotl(h ^ k, 13) * 5 + 0xe6546b64u;
    }
    h ^= 160;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ (h >> 16);
}
