/* MinHash signatures of sets stored row by row (CSR), then the estimated
 * Jaccard similarity of all pairs that share at least one LSH band. */
#include <stddef.h>
#include <stdint.h>

#ifndef NSETS
#define NSETS 16
#endif
#ifndef NITEMS
#define NITEMS 240
#endif
#ifndef NHASH
#define NHASH 16
#endif
#define BAND 2

static uint32_t sig[NSETS][NHASH];

static uint32_t mix(uint32_t item, size_t h)
{
    uint32_t x = item * 2654435769u + (uint32_t)h * 0x85ebca6bu;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x;
}

static int share_band(const uint32_t *a, const uint32_t *b)
{
    for (size_t k = 0; k + BAND <= NHASH; k += BAND) {
        size_t r = 0;
        while (r < BAND && a[k + r] == b[k + r])
            ++r;
        if (r == BAND)
            return 1;
    }
    return 0;
}

size_t minhash_sets(const size_t *row, const uint32_t *item, float *similarity)
{
    size_t pairs = 0;

    for (size_t s = 0; s < NSETS; ++s)
        for (size_t h = 0; h < NHASH; ++h) {
            uint32_t best = UINT32_MAX;
            for (size_t k = row[s]; k < row[s + 1]; ++k) {
                uint32_t v = mix(item[k], h);
                if (v < best)
                    best = v;
            }
            sig[s][h] = best;
        }

    for (size_t a = 0; a < NSETS; ++a) {
        similarity[a * NSETS + a] = 1.0f;
        for (size_t b = a + 1; b < NSETS; ++b) {
            float est = 0.0f;
            int both_full = row[a] != row[a + 1] && row[b] != row[b + 1];
            if (both_full && share_band(sig[a], sig[b])) {
                int same = 0;
                for (size_t h = 0; h < NHASH; ++h)
                    same += sig[a][h] == sig[b][h];
                est = (float)same / (float)NHASH;
                ++pairs;
            }
            similarity[a * NSETS + b] = est;
            similarity[b * NSETS + a] = est;
        }
    }
    return pairs;
}
