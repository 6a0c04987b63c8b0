/* Kernel of a bit matrix over GF(2), as in the last step of a sieve: which subsets of the
   relations multiply to a square. Row operations recorded in a parallel history matrix. */
#include <stdint.h>

#ifndef CW
#define CW 2               /* words of a relation: 32 primes each */
#endif
#ifndef HW
#define HW 3               /* words of a history: 32 relations each */
#endif
#define RELS (32 * HW)

static uint32_t hist[RELS][HW];

static int lowbit(uint32_t v)
{
    int n = 0;
    if (!(v & 0xffffu)) { v >>= 16; n += 16; }
    if (!(v & 0xffu)) { v >>= 8; n += 8; }
    if (!(v & 0xfu)) { v >>= 4; n += 4; }
    while (!(v & 1)) { v >>= 1; n++; }
    return n;
}

/* returns the nullity; deps[k] is the k-th dependency as a set of rows */
unsigned gf2_kernel(uint32_t rel[RELS][CW], uint32_t deps[RELS][HW], unsigned *weight)
{
    int owner[32 * CW];                /* which row has its leading bit here */
    unsigned nullity = 0;

    for (int c = 0; c < 32 * CW; c++) owner[c] = -1;
    *weight = 0;

    for (int r = 0; r < RELS; r++) {
        for (int w = 0; w < HW; w++) hist[r][w] = 0;
        hist[r][r >> 5] |= (uint32_t)1 << (r & 31);

        int w = 0;
        while (w < CW) {
            if (rel[r][w] == 0) { w++; continue; }
            int c = 32 * w + lowbit(rel[r][w]);
            if (owner[c] < 0) {
                owner[c] = r;
                break;
            }
            int o = owner[c];
            for (int k = w; k < CW; k++) rel[r][k] ^= rel[o][k];
            for (int k = 0; k < HW; k++) hist[r][k] ^= hist[o][k];
        }
        if (w == CW) {
            for (int k = 0; k < HW; k++) {
                deps[nullity][k] = hist[r][k];
                for (uint32_t t = hist[r][k]; t; t &= t - 1) ++*weight;
            }
            nullity++;
        }
    }
    for (unsigned d = nullity; d < RELS; d++)
        for (int k = 0; k < HW; k++) deps[d][k] = 0;
    return nullity;
}
