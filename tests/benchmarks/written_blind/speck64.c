#include <stdint.h>
static uint32_t ror(uint32_t x, int r) { return x >> r | x << (32 - r); }
static uint32_t rol(uint32_t x, int r) { return x << r | x >> (32 - r); }

/* Speck 64/96: the key schedule runs beside the rounds. */
void speck64(const uint32_t key[3], uint32_t block[2])
{
    uint32_t y = block[0], x = block[1];
    uint32_t k = key[0], l[2] = {key[1], key[2]};
    for (uint32_t i = 0; i < 26; i++) {
        x = (ror(x, 8) + y) ^ k;
        y = rol(y, 3) ^ x;
        uint32_t t = (ror(l[i & 1], 8) + k) ^ i;
        k = rol(k, 3) ^ t;
        l[i & 1] = t;
    }
    block[0] = y;
    block[1] = x;
}
