#include <stdint.h>

#ifndef ROWS
#define ROWS 16
#endif
#ifndef CLS
#define CLS 40
#endif

typedef int8_t q7_t;

/* 2^(-i/16) in Q15 */
static const uint16_t exp2_frac[16] = {
    32768, 31379, 30048, 28774, 27554, 26386, 25268, 24196,
    23170, 22188, 21247, 20347, 19484, 18658, 17867, 17109
};

static uint32_t neg_exp2_q15(uint32_t d16)      /* d16: distance in 1/16 octaves */
{
    uint32_t whole = d16 >> 4;
    if (whole > 15) return 0;
    return (uint32_t)exp2_frac[d16 & 15u] >> whole;
}

/* Softmax over rows of int8 logits; output is int8 with scale 1/256, zero point -128.
   beta_q8 = scale * log2(e) in Q8 (in 1/16 octaves per count). */
int nn_softmax_s8(const q7_t *in, q7_t *out, uint32_t beta_q8)
{
    int saturated = 0;
    for (int r = 0; r < ROWS; ++r, in += CLS, out += CLS) {
        q7_t peak = in[0];
        for (int c = 1; c < CLS; ++c) if (in[c] > peak) peak = in[c];

        uint32_t sum = 0;
        for (int c = 0; c < CLS; ++c)
            sum += neg_exp2_q15(((uint32_t)(peak - in[c]) * beta_q8) >> 8);

        /* sum >= 32768 as the peak itself contributes exactly 1.0 */
        uint32_t recip = 0xFFFFFFFFu / sum;
        for (int c = 0; c < CLS; ++c) {
            uint64_t e = neg_exp2_q15(((uint32_t)(peak - in[c]) * beta_q8) >> 8);
            uint32_t p = (uint32_t)((e * recip + (1u << 23)) >> 24);
            if (p > 255) { p = 255; saturated++; }
            out[c] = (q7_t)((int)p - 128);
        }
    }
    return saturated;
}
