#include <stdint.h>
#include <stdio.h>

#ifndef ROWS
#define ROWS 32
#endif
#ifndef GROUPS
#define GROUPS 4
#endif
#define QK 32
#define COLS (GROUPS * QK)

/* group of 32 weights: fp16 scale + 16 bytes of nibbles */
typedef struct {
    uint16_t d;
    uint8_t  qs[QK / 2];
} block_q4;

typedef struct {
    float  d;
    int8_t qs[QK];
} block_q8;

static float half_to_float(uint16_t h)
{
    union { uint32_t u; float f; } v;
    uint32_t e = (h >> 10) & 31u, m = h & 1023u;
    if (e == 0) {
        v.f = (float)m * (1.0f / 16777216.0f);       /* subnormal */
        v.u |= (uint32_t)(h & 0x8000u) << 16;
        return v.f;
    }
    v.u = ((uint32_t)(h & 0x8000u) << 16) | ((e + 112u) << 23) | (m << 13);
    return v.f;
}

static block_q4 W[ROWS][GROUPS];

static void quantize_group(const float *x, block_q8 *b)
{
    float amax = 0.f;
    for (int i = 0; i < QK; ++i) {
        float a = x[i] < 0 ? -x[i] : x[i];
        if (a > amax) amax = a;
    }
    b->d = amax / 127.f;
    float id = amax > 0.f ? 127.f / amax : 0.f;
    for (int i = 0; i < QK; ++i) {
        float s = x[i] * id;
        b->qs[i] = (int8_t)(s >= 0 ? s + 0.5f : s - 0.5f);
    }
}

void gemv_q4(const uint16_t *scales, const uint8_t *nibbles, const float *x, float *y)
{
    block_q8 xq[GROUPS];

    /* interleave the two streams the way the weights lie in memory */
    for (int r = 0; r < ROWS; ++r)
        for (int g = 0; g < GROUPS; ++g) {
            W[r][g].d = *scales++;
            for (int i = 0; i < QK / 2; ++i) W[r][g].qs[i] = *nibbles++;
        }

    for (int g = 0; g < GROUPS; ++g)
        quantize_group(x + g * QK, &xq[g]);

    for (int r = 0; r < ROWS; ++r) {
        float acc = 0.f;
        for (int g = 0; g < GROUPS; ++g) {
            const block_q4 *w = &W[r][g];
            int32_t isum = 0;
            for (int i = 0; i < QK / 2; ++i) {
                int lo = (w->qs[i] & 15) - 8, hi = (w->qs[i] >> 4) - 8;
                isum += lo * xq[g].qs[i] + hi * xq[g].qs[i + QK / 2];
            }
            acc += half_to_float(w->d) * xq[g].d * (float)isum;
        }
        y[r] = acc;
    }
}

int main(void)
{
    static uint16_t sc[ROWS * GROUPS];
    static uint8_t nb[ROWS * COLS / 2];
    static float x[COLS], y[ROWS];
    for (int i = 0; i < ROWS * GROUPS; ++i) sc[i] = 0x2000 + (i & 255);
    for (int i = 0; i < ROWS * COLS / 2; ++i) nb[i] = (uint8_t)(i * 37);
    for (int i = 0; i < COLS; ++i) x[i] = (float)(i % 7) - 3.0f;
    gemv_q4(sc, nb, x, y);
    for (int i = 0; i < ROWS; ++i) printf("%g\n", y[i]);
    return 0;
}
