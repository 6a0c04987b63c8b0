#include <stdint.h>

#ifndef FRAME
#define FRAME 256
#endif
#ifndef PARTS
#define PARTS 4        /* FRAME must be a multiple */
#endif

#define MAXORDER 4
#define MAXRICE 14

typedef int32_t sample_t;

struct subframe {
    int order;
    int rice[PARTS];
    uint32_t bits;
};

static inline uint32_t absu(sample_t v) { return v < 0 ? 0u - (uint32_t)v : (uint32_t)v; }
static inline uint32_t zigzag(sample_t v) { return ((uint32_t)v << 1) ^ (v < 0 ? 0xffffffffu : 0u); }

/* fixed polynomial predictor with the smallest sum of magnitudes */
static int choose_order(const sample_t *x)
{
    uint64_t total[MAXORDER + 1] = {0};
    int best = 0;

    for (int i = MAXORDER; i < FRAME; i++) {
        sample_t d0 = x[i];
        sample_t d1 = d0 - x[i - 1];
        sample_t d2 = d1 - (x[i - 1] - x[i - 2]);
        sample_t d3 = d2 - (x[i - 1] - 2 * x[i - 2] + x[i - 3]);
        sample_t d4 = d3 - (x[i - 1] - 3 * x[i - 2] + 3 * x[i - 3] - x[i - 4]);
        total[0] += absu(d0); total[1] += absu(d1); total[2] += absu(d2);
        total[3] += absu(d3); total[4] += absu(d4);
    }
    for (int k = 1; k <= MAXORDER; k++)
        if (total[k] < total[best]) best = k;
    return best;
}

static void differences(const sample_t *x, int order, sample_t *res)
{
    for (int i = 0; i < FRAME; i++) res[i] = x[i];
    /* repeated first difference, warm-up samples stay */
    for (int pass = 0; pass < order; pass++)
        for (int i = FRAME - 1; i > pass; i--)
            res[i] -= res[i - 1];
    for (int i = 0; i < order; i++) res[i] = x[i];
}

static uint32_t rice_cost(const sample_t *r, int n, int k)
{
    uint32_t c = 0;
    while (n-- > 0) c += (zigzag(*r++) >> k) + 1u + (uint32_t)k;
    return c;
}

/* returns size of the subframe in bits, the choice goes to res and choice[0..PARTS] */
uint32_t flac_subframe(const sample_t pcm[FRAME], sample_t res[FRAME], uint8_t choice[PARTS + 1])
{
    struct subframe sf;
    const int plen = FRAME / PARTS;

    sf.order = choose_order(pcm);
    differences(pcm, sf.order, res);
    sf.bits = 8u + 6u + 16u * (uint32_t)sf.order;
    for (int p = 0; p < PARTS; p++) {
        const sample_t *r = res + p * plen;
        int n = plen;
        uint32_t best;
        if (p == 0) { r += sf.order; n -= sf.order; }
        best = rice_cost(r, n, 0);
        sf.rice[p] = 0;
        for (int k = 1; k <= MAXRICE; k++) {
            uint32_t c = rice_cost(r, n, k);
            if (c >= best) break;       /* cost is convex in k, nearly */
            best = c;
            sf.rice[p] = k;
        }
        sf.bits += 4u + best;
    }
    choice[0] = (uint8_t)sf.order;
    for (int p = 0; p < PARTS; p++) choice[p + 1] = (uint8_t)sf.rice[p];
    return sf.bits;
}
