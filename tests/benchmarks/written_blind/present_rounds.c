#include <stdint.h>
static const uint8_t sbox[16] = {0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2};

static uint64_t substitute(uint64_t s)
{
    uint64_t r = 0;
    for (int i = 0; i < 64; i += 4)
        r |= (uint64_t)sbox[s >> i & 15] << i;
    return r;
}

static uint64_t permute(uint64_t s)
{
    uint64_t r = 0;
    for (int i = 0; i < 63; i++)
        r |= (s >> i & 1) << (16 * i % 63);
    return r | (s >> 63) << 63;
}

/* The rounds of PRESENT with given round keys. */
uint64_t present_rounds(uint64_t s, const uint64_t key[8])
{
    for (int r = 0; r < 7; r++) {
        s ^= key[r];
        s = substitute(s);
        s = permute(s);
    }
    return s ^ key[7];
}
