#include <stdint.h>

#ifndef BLOCKS
#define BLOCKS 4
#endif
#define BS 64                     /* integers per block */

/* Patched frame of reference. Per block:
     word 0: base
     word 1: width | exceptions << 8 | first << 16
     packed residuals, then the high parts of the exceptions.
   Exceptions form a linked list through their own packed slots. */

static int width_of(uint32_t v) { int w = 0; while (v) { v >>= 1; ++w; } return w; }

static uint32_t *pfor_block(const uint32_t *in, uint32_t *out)
{
    uint32_t base = in[0], res[BS], high[BS];
    int hist[33] = {0};
    int i, w, bestw, cost, best, cum;

    for (i = 1; i < BS; ++i)
        if (in[i] < base)
            base = in[i];
    for (i = 0; i < BS; ++i) {
        res[i] = in[i] - base;
        hist[width_of(res[i])]++;
    }

    /* all values wider than w become exceptions at 32 bits apiece */
    bestw = 32; best = 32 * BS;
    for (w = 32, cum = 0; w >= 6; --w) {
        cost = w * BS + 32 * cum;
        if (cost < best) { best = cost; bestw = w; }
        cum += hist[w];
    }

    int nexc = 0, first = BS, prev = -1;
    if (bestw < 32) {
        uint32_t mask = (1u << bestw) - 1u;
        for (i = 0; i < BS; ++i) {
            if (res[i] <= mask)
                continue;
            high[nexc++] = res[i];
            if (prev < 0) first = i;
            else res[prev] = (uint32_t)(i - prev);        /* < 64, fits 6 bits */
            prev = i;
        }
        if (prev >= 0)
            res[prev] = 0;
    }

    *out++ = base;
    *out++ = (uint32_t)bestw | (uint32_t)nexc << 8 | (uint32_t)first << 16;
    uint64_t acc = 0;
    int fill_bits = 0;
    for (i = 0; i < BS; ++i) {
        acc |= (uint64_t)res[i] << fill_bits;
        fill_bits += bestw;
        if (fill_bits >= 32) {
            *out++ = (uint32_t)acc;
            acc >>= 32;
            fill_bits -= 32;
        }
    }
    for (i = 0; i < nexc; ++i)
        *out++ = high[i];
    return out;
}

int pfor_compress(const uint32_t *values, const uint8_t *skew, uint32_t *packed, int *exceptions)
{
    uint32_t tmp[BS];
    uint32_t *o = packed;

    *exceptions = 0;
    for (int b = 0; b < BLOCKS; ++b) {
        /* outliers: some values of the column are scaled up */
        for (int i = 0; i < BS; ++i)
            tmp[i] = values[b * BS + i] << (skew[b * BS + i] == 0 ? 12 : 0);
        uint32_t *head = o;
        o = pfor_block(tmp, o);
        *exceptions += (int)(head[1] >> 8 & 0xffu);
    }
    return (int)(o - packed);
}
