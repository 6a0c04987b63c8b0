/* Length-limited prefix codes by package-merge (coin collector's problem).
 * Package sets are kept as bit masks per list entry, so no tree is needed. */
#include <stdint.h>

#ifndef NSYM
#define NSYM 24
#endif
#ifndef MAXLEN
#define MAXLEN 7
#endif
#define NWORD ((NSYM + 31) / 32)

typedef struct coin {
    uint64_t weight;
    uint32_t used[NWORD];       /* symbols this coin is made of, parity is not enough: see count */
    uint8_t  depth[NSYM];       /* how often each symbol occurs in it */
} coin;

static coin leaf[NSYM], cur[2 * NSYM], nxt[2 * NSYM];

static void sort_leaves(int n)
{
    for (int gap = n / 2; gap > 0; gap /= 2)
        for (int i = gap; i < n; i++) {
            coin t = leaf[i];
            int j = i;
            for (; j >= gap && leaf[j - gap].weight > t.weight; j -= gap)
                leaf[j] = leaf[j - gap];
            leaf[j] = t;
        }
}

static void join(coin *dst, const coin *a, const coin *b)
{
    dst->weight = a->weight + b->weight;
    for (int w = 0; w < NWORD; w++) dst->used[w] = a->used[w] | b->used[w];
    for (int s = 0; s < NSYM; s++) dst->depth[s] = (uint8_t)(a->depth[s] + b->depth[s]);
}

/* freq[s] == 0: symbol does not occur. Returns total coded size in bits,
 * -1 when the limit cannot hold all symbols, -2 with fewer than two symbols. */
int64_t limited_lengths(const uint32_t freq[NSYM], uint8_t len[NSYM])
{
    int n = 0, m;
    int64_t bits = 0;

    for (int s = 0; s < NSYM; s++) {
        len[s] = 0;
        if (!freq[s]) continue;
        leaf[n].weight = freq[s];
        for (int w = 0; w < NWORD; w++) leaf[n].used[w] = 0;
        for (int k = 0; k < NSYM; k++) leaf[n].depth[k] = 0;
        leaf[n].used[s / 32] |= 1u << (s % 32);
        leaf[n].depth[s] = 1;
        n++;
    }
    if (n < 2) return -2;
    if (MAXLEN < 31 && n > (1 << MAXLEN)) return -1;
    sort_leaves(n);

    m = 0;
    for (int level = 0; level < MAXLEN; level++) {
        int li = 0, pi = 0, k = 0, np = m / 2;
        /* merge packages of the previous list with a fresh set of leaves */
        while (li < n || pi < np) {
            uint64_t pw = pi < np ? cur[2 * pi].weight + cur[2 * pi + 1].weight : UINT64_MAX;
            if (li < n && leaf[li].weight <= pw)
                nxt[k++] = leaf[li++];
            else {
                join(&nxt[k++], &cur[2 * pi], &cur[2 * pi + 1]);
                pi++;
            }
        }
        m = k;
        for (int i = 0; i < m; i++) cur[i] = nxt[i];
    }
    for (int i = 0; i < 2 * n - 2; i++)
        for (int s = 0; s < NSYM; s++)
            if (cur[i].used[s / 32] >> (s % 32) & 1)
                len[s] = (uint8_t)(len[s] + cur[i].depth[s]);
    for (int s = 0; s < NSYM; s++)
        bits += (int64_t)freq[s] * len[s];
    return bits;
}
