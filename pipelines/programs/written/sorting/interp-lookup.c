#include <stdint.h>
#ifndef KEYS
#define KEYS 1000
#endif
#ifndef PROBES
#define PROBES 120
#endif

#define NOT_FOUND (-1L)

/* Interpolation search; falls to bisection after three steps that did not halve the range. */
static long lookup(const uint64_t *tab, uint64_t x, unsigned *cost)
{
    long lo = 0, hi = KEYS - 1;
    int lazy = 0;

    while (lo <= hi && x >= tab[lo] && x <= tab[hi]) {
        long mid, width = hi - lo;
        ++*cost;
        if (tab[hi] == tab[lo])
            return lo;
        if (lazy < 3)
            mid = lo + (long)((x - tab[lo]) * (uint64_t)width / (tab[hi] - tab[lo]));
        else
            mid = lo + width / 2;
        if (tab[mid] == x)
            return mid;
        if (tab[mid] < x) lo = mid + 1;
        else hi = mid - 1;
        lazy = (hi - lo > width / 2) ? lazy + 1 : 0;
    }
    return NOT_FOUND;
}

unsigned interp_batch(const uint64_t tab[KEYS], const uint32_t probe[PROBES], long pos[PROBES])
{
    unsigned cost = 0, i = 0;
    while (i < PROBES) {
        pos[i] = lookup(tab, (uint64_t)probe[i] * 2u, &cost);
        i++;
    }
    return cost;
}
