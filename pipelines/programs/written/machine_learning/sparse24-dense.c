#include <stdint.h>
#include <stddef.h>

#ifndef OUTS
#define OUTS 24
#endif
#ifndef INS
#define INS 64
#endif
#ifndef BATCH
#define BATCH 4
#endif

/* Structured 2:4 sparsity: of four neighbouring weights the two of largest
 * magnitude stay; values and 2-bit positions are stored apart. */
static int8_t  s24_val[OUTS][INS / 2];
static uint8_t s24_idx[OUTS][INS / 4];

static unsigned mag(int8_t v) { return v < 0 ? (unsigned)-v : (unsigned)v; }

static void s24_pack_row(const int8_t *dense, int8_t *val, uint8_t *idx)
{
    for (size_t g = 0; g < INS / 4; ++g, dense += 4) {
        unsigned a = 0, b = 1;            /* a: largest, b: second */
        if (mag(dense[1]) > mag(dense[0])) { a = 1; b = 0; }
        for (unsigned k = 2; k < 4; ++k) {
            if (mag(dense[k]) > mag(dense[a])) { b = a; a = k; }
            else if (mag(dense[k]) > mag(dense[b])) b = k;
        }
        if (a > b) { unsigned t = a; a = b; b = t; }
        *val++ = dense[a];
        *val++ = dense[b];
        idx[g] = (uint8_t)(a | b << 2);
    }
}

int64_t s24_dense_layer(const int8_t *restrict weights, const int8_t *restrict x,
                        int16_t *restrict y)
{
    int64_t lost = 0;

    for (size_t o = 0; o < OUTS; ++o)
        s24_pack_row(weights + o * INS, s24_val[o], s24_idx[o]);

    for (size_t n = 0; n < BATCH; ++n) {
        const int8_t *xb = x + n * INS;
        for (size_t o = 0; o < OUTS; ++o) {
            int32_t acc = 0, full = 0;
            const int8_t *v = s24_val[o], *xg = xb;
            for (size_t g = 0; g < INS / 4; ++g, xg += 4, v += 2) {
                uint8_t ix = s24_idx[o][g];
                acc += v[0] * xg[ix & 3] + v[1] * xg[ix >> 2];
            }
            for (size_t i = 0; i < INS; ++i)
                full += weights[o * INS + i] * xb[i];
            lost += full > acc ? full - acc : acc - full;
            acc >>= 6;
            *y++ = acc < 0 ? 0 : acc > 32767 ? 32767 : (int16_t)acc;
        }
    }
    return lost;
}
