#include <stdint.h>
#include <stddef.h>

#ifndef BLOCKSIZE
#define BLOCKSIZE 128
#endif
#ifndef MAX_PORDER
#define MAX_PORDER 4
#endif

/* Lossless audio: fixed predictors 0..3, best order by sum of |e|; Rice partition order search;
   emits (parameter) per partition and total bits. */

static uint32_t zz[BLOCKSIZE];
static uint64_t sums[MAX_PORDER + 1][1 << MAX_PORDER];

static unsigned best_param(uint64_t sum, uint32_t n)
{
    unsigned k = 0;
    while (k < 24 && ((uint64_t)n << (k + 1)) <= sum) k++;
    return k;
}

uint64_t flx_partition(const int32_t *pcm, uint8_t *order, uint8_t *porder, uint8_t params[1 << MAX_PORDER])
{
    int64_t a1 = 0, a2 = 0, a3 = 0;               /* last sample, difference, second difference */
    uint64_t total[4] = {0};
    for (size_t i = 0; i < BLOCKSIZE; i++) {
        int64_t e0 = pcm[i], e1 = e0 - a1, e2 = e1 - a2, e3 = e2 - a3;
        a1 = e0; a2 = e1; a3 = e2;
        if (i < 3) continue;                       /* warm-up samples go verbatim */
        total[0] += (uint64_t)(e0 < 0 ? -e0 : e0);
        total[1] += (uint64_t)(e1 < 0 ? -e1 : e1);
        total[2] += (uint64_t)(e2 < 0 ? -e2 : e2);
        total[3] += (uint64_t)(e3 < 0 ? -e3 : e3);
    }
    unsigned o = 0;
    for (unsigned k = 1; k < 4; k++)
        if (total[k] < total[o]) o = k;
    *order = (uint8_t)o;

    for (size_t i = 0; i < BLOCKSIZE; i++) {
        int64_t e = 0;
        if (i >= 3)
            switch (o) {
            case 0: e = pcm[i]; break;
            case 1: e = (int64_t)pcm[i] - pcm[i - 1]; break;
            case 2: e = (int64_t)pcm[i] - 2 * (int64_t)pcm[i - 1] + pcm[i - 2]; break;
            case 3: e = (int64_t)pcm[i] - 3 * (int64_t)pcm[i - 1] + 3 * (int64_t)pcm[i - 2] - pcm[i - 3]; break;
            }
        zz[i] = (uint32_t)((uint64_t)e << 1 ^ (uint64_t)(e >> 63));
    }

    /* finest sums first, coarser ones by adding neighbours */
    const size_t fine = (size_t)1 << MAX_PORDER, len = BLOCKSIZE / fine;
    for (size_t p = 0; p < fine; p++) {
        uint64_t s = 0;
        for (size_t i = p * len; i < (p + 1) * len; i++) s += zz[i];
        sums[MAX_PORDER][p] = s;
    }
    for (int ord = MAX_PORDER - 1; ord >= 0; ord--)
        for (size_t p = 0; p < (size_t)1 << ord; p++)
            sums[ord][p] = sums[ord + 1][2 * p] + sums[ord + 1][2 * p + 1];

    uint64_t best = UINT64_MAX;
    for (int ord = 0; ord <= MAX_PORDER; ord++) {
        size_t np = (size_t)1 << ord, n = BLOCKSIZE >> ord;
        uint64_t bits = 0;
        for (size_t p = 0; p < np; p++) {
            unsigned k = best_param(sums[ord][p], (uint32_t)n);
            bits += 5 + n * (k + 1);
            for (size_t i = p * n; i < (p + 1) * n; i++) bits += zz[i] >> k;
        }
        if (bits < best) { best = bits; *porder = (uint8_t)ord; }
    }
    for (size_t p = 0; p < (size_t)1 << MAX_PORDER; p++)
        params[p] = p < (size_t)1 << *porder ? (uint8_t)best_param(sums[*porder][p], BLOCKSIZE >> *porder) : 0;
    return best;
}
