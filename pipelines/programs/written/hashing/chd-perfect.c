/* Build of a perfect hash: buckets are placed largest first, each one gets the
   first displacement that lets all of its keys fall into free slots. */
#include <stdint.h>

#ifndef NKEYS
#define NKEYS 96
#endif
#ifndef NBUCK
#define NBUCK 32
#endif
#ifndef NSLOT
#define NSLOT 128
#endif
#define MAXD 512

static inline uint32_t H(uint32_t k, uint32_t seed)
{
    uint64_t p = (uint64_t)(k ^ seed) * 0x9E3779B97F4A7C15ull;
    return (uint32_t)(p >> 32) ^ (uint32_t)p;
}

static uint16_t start[NBUCK + 1], cursor[NBUCK], order[NBUCK];
static uint32_t grouped[NKEYS];

static void group_by_bucket(const uint32_t *key)
{
    int i, j;
    for (i = 0; i <= NBUCK; i++) start[i] = 0;
    for (i = 0; i < NKEYS; i++) start[H(key[i], 0) % NBUCK + 1]++;
    for (i = 0; i < NBUCK; i++) { start[i + 1] += start[i]; cursor[i] = start[i]; order[i] = (uint16_t)i; }
    for (i = 0; i < NKEYS; i++) grouped[cursor[H(key[i], 0) % NBUCK]++] = key[i];

    /* insertion sort of the bucket numbers by falling size */
    for (i = 1; i < NBUCK; i++) {
        uint16_t b = order[i];
        int sz = start[b + 1] - start[b];
        for (j = i; j > 0 && start[order[j - 1] + 1] - start[order[j - 1]] < sz; j--)
            order[j] = order[j - 1];
        order[j] = b;
    }
}

/* 0 = built; otherwise the number of buckets that found no displacement */
int mph_build(const uint32_t key[NKEYS], uint16_t disp[NBUCK], uint32_t table[NSLOT])
{
    int failed = 0;

    group_by_bucket(key);
    for (int i = 0; i < NSLOT; i++) table[i] = 0;

    for (int o = 0; o < NBUCK; o++) {
        int b = order[o], lo = start[b], hi = start[b + 1];
        uint32_t d;

        disp[b] = 0xffff;
        if (lo == hi) continue;
        for (d = 1; d <= MAXD; d++) {
            int k = lo;
            for (; k < hi; k++) {
                uint32_t s = H(grouped[k], d) % NSLOT;
                if (table[s]) break;
                table[s] = grouped[k];
            }
            if (k == hi) break;
            while (--k >= lo)               /* roll back */
                table[H(grouped[k], d) % NSLOT] = 0;
        }
        if (d <= MAXD) disp[b] = (uint16_t)d;
        else failed++;
    }
    return failed;
}
