#include <stdint.h>
#include <string.h>

#ifndef LEN
#define LEN 300
#endif

#define RADIX_BITS 8
#define BUCKETS    (1u << RADIX_BITS)

static inline uint32_t flip(uint32_t f)
{
    uint32_t mask = (uint32_t)(-(int32_t)(f >> 31)) | 0x80000000u;
    return f ^ mask;
}

/* order[] receives indices such that val[order[i]] ascends; LSD radix, stable.
   Digits in which all keys agree are skipped. Returns the number of passes made. */
unsigned rf_sort_index(const float *val, uint16_t *order)
{
    uint32_t key[LEN], hist[4][BUCKETS];
    uint16_t tmp[LEN], *src = order, *dst = tmp;
    unsigned passes = 0;

    memset(hist, 0, sizeof(hist));
    for (unsigned i = 0; i < LEN; i++) {
        uint32_t bits;
        memcpy(&bits, &val[i], sizeof bits);
        bits = flip(bits);
        key[i] = bits;
        order[i] = (uint16_t)i;
        for (unsigned d = 0; d < 4; d++)
            hist[d][(bits >> (RADIX_BITS * d)) & (BUCKETS - 1)]++;
    }

    for (unsigned d = 0; d < 4; d++) {
        unsigned shift = RADIX_BITS * d;
        uint32_t *h = hist[d];
        uint32_t run = 0;

        if (h[(key[0] >> shift) & (BUCKETS - 1)] == LEN)
            continue;
        for (unsigned b = 0; b < BUCKETS; b++) {
            uint32_t c = h[b];
            h[b] = run;
            run += c;
        }
        for (unsigned i = 0; i < LEN; i++)
            dst[h[(key[src[i]] >> shift) & (BUCKETS - 1)]++] = src[i];
        uint16_t *swap = src; src = dst; dst = swap;
        passes++;
    }
    if (src != order)
        memcpy(order, src, sizeof(tmp));
    return passes;
}
