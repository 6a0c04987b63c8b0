#include <stdint.h>
#define ROTL(x, b) (uint64_t)(((x) << (b)) | ((x) >> (64 - (b))))
#define ROUND           \
    do {                \
        v0 += v1;       \
        v1 = ROTL(v1, 13); \
        v1 ^= v0;       \
        v0 = ROTL(v0, 32); \
        v2 += v3;       \
        v3 = ROTL(v3, 16); \
        v3 ^= v2;       \
        v0 += v3;       \
        v3 = ROTL(v3, 21); \
        v3 ^= v0;       \
        v2 += v1;       \
        v1 = ROTL(v1, 17); \
        v1 ^= v2;       \
        v2 = ROTL(v2, 32); \
    } while (0)

uint64_t siphash24(const uint64_t key[2], const uint64_t msg[6])
{
    uint64_t v0 = 0x736f6d6570736575ULL ^ key[0], v1 = 0x646f72616e646f6dULL ^ key[1];
    uint64_t v2 = 0x6c7967656e657261ULL ^ key[0], v3 = 0x7465646279746573ULL ^ key[1];
    for (int i = 0; i < 6; i++) {
        v3 ^= msg[i];
        ROUND;
        ROUND;
        v0 ^= msg[i];
    }
    v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}
