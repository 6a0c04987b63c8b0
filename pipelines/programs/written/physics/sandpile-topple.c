#include <stdint.h>
#ifndef SZ
#define SZ 20
#endif
#ifndef DROPS
#define DROPS 40
#endif
#define QCAP (SZ * SZ)

/* Abelian sand pile with an explicit queue of unstable sites, open border.
   Each drop yields the size of its avalanche (topplings) and its duration (waves). */

static uint16_t queue_[QCAP];
static uint8_t queued[SZ * SZ];

static unsigned relax(uint8_t *z, unsigned *waves, unsigned *lost)
{
    unsigned head = 0, count = 0, topplings = 0;

    for (unsigned i = 0; i < SZ * SZ; i++) {
        queued[i] = z[i] > 3;
        if (queued[i]) queue_[count++] = (uint16_t)i;
    }
    *waves = 0;
    while (count) {
        unsigned batch = count;
        ++*waves;
        while (batch--) {
            unsigned s = queue_[head], x = s % SZ, y = s / SZ;
            head = (head + 1) % QCAP;
            count--;
            queued[s] = 0;
            if (z[s] < 4) continue;
            unsigned give = z[s] / 4;
            z[s] &= 3;
            topplings += give;

            int nb[4] = { x ? (int)s - 1 : -1, x + 1 < SZ ? (int)s + 1 : -1,
                          y ? (int)s - SZ : -1, y + 1 < SZ ? (int)s + SZ : -1 };
            for (int k = 0; k < 4; k++) {
                if (nb[k] < 0) { *lost += give; continue; }
                z[nb[k]] = (uint8_t)(z[nb[k]] + give);
                if (z[nb[k]] > 3 && !queued[nb[k]]) {
                    queued[nb[k]] = 1;
                    queue_[(head + count++) % QCAP] = (uint16_t)nb[k];
                }
            }
        }
    }
    return topplings;
}

unsigned sandpile(uint8_t z[SZ * SZ], const uint8_t (*drop)[2], uint16_t size[DROPS], uint16_t duration[DROPS])
{
    unsigned lost = 0, waves;

    for (int d = 0; d < DROPS; d++) {
        unsigned x = drop[d][0] % SZ, y = drop[d][1] % SZ;
        z[y * SZ + x]++;
        size[d] = (uint16_t)relax(z, &waves, &lost);
        duration[d] = (uint16_t)waves;
    }
    return lost;
}
