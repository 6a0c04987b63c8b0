#include <stdint.h>

#ifndef N_VARS
#define N_VARS 40
#endif
#ifndef N_CONFLICTS
#define N_CONFLICTS 200
#endif

// Register allocation by graph colouring (DSATUR): next comes the variable
// whose neighbours use the most different registers, and it gets the lowest
// register that is free. Sets of variables and of registers are 64 bit masks,
// hence at most 64 variables.

typedef uint64_t mask;

static inline int popcount(mask m) {
    int n = 0;
    while (m) { m &= m - 1; ++n; }
    return n;
}

static inline int lowest(mask m) {          // m != 0
    int n = 0;
    if (!(m & 0xFFFFFFFFu)) { n += 32; m >>= 32; }
    if (!(m & 0xFFFFu))     { n += 16; m >>= 16; }
    if (!(m & 0xFFu))       { n += 8;  m >>= 8; }
    while (!(m & 1))        { n += 1;  m >>= 1; }
    return n;
}

int assign_registers(const uint8_t *a, const uint8_t *b, uint8_t *reg) {
    mask adjacent[N_VARS] = {0};
    mask taken[N_VARS] = {0};
    mask open = N_VARS == 64 ? ~(mask)0 : ((mask)1 << (N_VARS % 64)) - 1;
    int used = 0;

    for (int i = 0; i < N_CONFLICTS; ++i) {
        if (a[i] == b[i]) continue;
        adjacent[a[i]] |= (mask)1 << b[i];
        adjacent[b[i]] |= (mask)1 << a[i];
    }

    while (open) {
        int best = -1, bestSat = -1, bestDeg = -1;
        for (mask rest = open; rest; rest &= rest - 1) {
            const int v = lowest(rest);
            const int sat = popcount(taken[v]);
            if (sat < bestSat) continue;
            const int deg = popcount(adjacent[v] & open);
            if (sat > bestSat || deg > bestDeg) {
                best = v; bestSat = sat; bestDeg = deg;
            }
        }

        const int r = lowest(~taken[best]);
        reg[best] = (uint8_t)r;
        if (r >= used) used = r + 1;
        open &= ~((mask)1 << best);
        for (mask rest = adjacent[best] & open; rest; rest &= rest - 1)
            taken[lowest(rest)] |= (mask)1 << r;
    }
    return used;
}
