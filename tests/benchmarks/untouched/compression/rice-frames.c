#include <stdint.h>

/* Lossless coding of PCM frames: the best fixed predictor of order 0..3 per
   channel, residuals in Rice codes with one parameter per partition. */

#ifndef FRAME
#define FRAME 192
#endif
#ifndef PARTS
#define PARTS 4
#endif
#ifndef FRAMES
#define FRAMES 2
#endif

#define PART_LEN (FRAME / PARTS)

typedef struct {
    uint8_t *base;
    uint32_t bits;
} bitout_t;

static void put_bits(bitout_t *b, uint32_t value, int n)
{
    while (n-- > 0) {
        uint8_t *p = b->base + (b->bits >> 3);
        uint8_t mask = (uint8_t)(128u >> (b->bits & 7));
        if ((b->bits & 7) == 0) *p = 0;
        if (value >> n & 1) *p |= mask;
        b->bits++;
    }
}

static int32_t residual(const int16_t *x, int i, int order)
{
    switch (order < i ? order : i) {        /* the first samples use what there is */
    case 0:  return x[i];
    case 1:  return x[i] - x[i - 1];
    case 2:  return x[i] - 2 * x[i - 1] + x[i - 2];
    default: return x[i] - 3 * x[i - 1] + 3 * x[i - 2] - x[i - 3];
    }
}

static uint32_t fold(int32_t r)
{
    return r < 0 ? (uint32_t)(-2 * r - 1) : (uint32_t)(2 * r);
}

static void code_channel(bitout_t *b, const int16_t *x)
{
    static uint32_t u[FRAME];
    uint32_t best_sum = UINT32_MAX;
    int best = 0;

    for (int order = 0; order <= 3; order++) {
        uint32_t sum = 0;
        for (int i = 0; i < FRAME; i++) sum += fold(residual(x, i, order));
        if (sum < best_sum) { best_sum = sum; best = order; }
    }
    put_bits(b, (uint32_t)best, 2);
    for (int i = 0; i < FRAME; i++) u[i] = fold(residual(x, i, best));

    for (int part = 0; part < PARTS; part++) {
        const uint32_t *v = u + part * PART_LEN;
        uint32_t sum = 0;
        int k = 0;

        for (int i = 0; i < PART_LEN; i++) sum += v[i];
        while (k < 18 && ((uint32_t)PART_LEN << (k + 1)) <= sum) k++;
        put_bits(b, (uint32_t)k, 5);
        for (int i = 0; i < PART_LEN; i++) {
            for (uint32_t q = v[i] >> k; q > 0; q--) put_bits(b, 1, 1);
            put_bits(b, 0, 1);
            put_bits(b, v[i] & ((1u << k) - 1), k);
        }
    }
}

uint32_t rice_frames(const int16_t *left, const int16_t *right, uint8_t *out, uint32_t *frame_bits)
{
    bitout_t b = { out, 0 };

    for (int f = 0; f < FRAMES; f++, left += FRAME, right += FRAME) {
        uint32_t before = b.bits;
        code_channel(&b, left);
        code_channel(&b, right);
        while (b.bits & 7) put_bits(&b, 0, 1);
        frame_bits[f] = b.bits - before;
    }
    return b.bits / 8;
}
