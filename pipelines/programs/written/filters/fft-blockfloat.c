/* bfp_fft: radix-4 butterflies (last stage radix 2 if needed), 16 bit block floating point.
 * Each stage looks at the largest magnitude and shifts the whole block right only if the
 * next butterflies could overflow. Returns the block exponent.
 */
#include <stdint.h>

#ifndef NFFT
#define NFFT 64
#endif

typedef struct { int16_t r, i; } cpx16;

/* quarter wave, 64 steps of pi/128, Q15 */
static const int16_t quarter[65] = {
        0,   804,  1608,  2410,  3212,  4011,  4808,  5602,  6393,  7179,  7962,  8739,  9512,
    10278, 11039, 11793, 12539, 13279, 14010, 14732, 15446, 16151, 16846, 17530, 18204, 18868,
    19519, 20159, 20787, 21403, 22005, 22594, 23170, 23731, 24279, 24811, 25329, 25832, 26319,
    26790, 27245, 27683, 28105, 28510, 28898, 29268, 29621, 29956, 30273, 30571, 30852, 31113,
    31356, 31580, 31785, 31971, 32137, 32285, 32412, 32521, 32609, 32678, 32728, 32757, 32767
};

static int sin256(int a)
{
    a &= 255;
    if (a < 64)  return quarter[a];
    if (a < 128) return quarter[128 - a];
    if (a < 192) return -quarter[a - 128];
    return -quarter[256 - a];
}

static cpx16 twiddle(int32_t r, int32_t i, int ang)   /* times exp(-j ang) */
{
    int32_t c = sin256(ang + 64), s = sin256(ang);
    cpx16 o;
    o.r = (int16_t)((r * c + i * s + 16384) >> 15);
    o.i = (int16_t)((i * c - r * s + 16384) >> 15);
    return o;
}

static int rescale(cpx16 *x)
{
    int top = 0;
    for (int k = 0; k < NFFT; k++) {
        int a = x[k].r < 0 ? -(int)x[k].r : x[k].r;
        int b = x[k].i < 0 ? -(int)x[k].i : x[k].i;
        top |= a | b;
    }
    int sh = 0;
    while (top >= 4096) { top >>= 1; sh++; }   /* growth of a radix-4 stage: 4 * sqrt 2 */
    if (sh)
        for (int k = 0; k < NFFT; k++) { x[k].r >>= sh; x[k].i >>= sh; }
    return sh;
}

int bfp_fft(const int16_t *re, const int16_t *im, cpx16 *x)
{
    int exponent = 0, len = NFFT;

    for (int k = 0; k < NFFT; k++) { x[k].r = re[k]; x[k].i = im[k]; }

    while (len >= 4) {
        const int q = len / 4;
        exponent += rescale(x);
        for (int base = 0; base < NFFT; base += len)
            for (int k = 0; k < q; k++) {
                cpx16 *a = x + base + k, *b = a + q, *c = b + q, *d = c + q;
                int ang = 256 * k / len;
                int32_t sr = a->r + c->r, si = a->i + c->i, dr = a->r - c->r, di = a->i - c->i;
                int32_t tr = b->r + d->r, ti = b->i + d->i, ur = b->r - d->r, ui = b->i - d->i;
                a->r = (int16_t)(sr + tr);
                a->i = (int16_t)(si + ti);
                *b = twiddle(dr + ui, di - ur, ang);
                *c = twiddle(sr - tr, si - ti, 2 * ang);
                *d = twiddle(dr - ui, di + ur, 3 * ang);
            }
        len = q;
    }
    if (len == 2) {
        exponent += rescale(x);
        for (int k = 0; k < NFFT; k += 2) {
            cpx16 t = x[k + 1];
            x[k + 1].r = x[k].r - t.r;
            x[k + 1].i = x[k].i - t.i;
            x[k].r += t.r;
            x[k].i += t.i;
        }
    }
    return exponent;     /* output stays digit reversed */
}
