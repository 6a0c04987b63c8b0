#include <stdint.h>

#ifndef PAGES
#define PAGES 64
#endif
#ifndef LINKS
#define LINKS 240
#endif
#ifndef ROUNDS
#define ROUNDS 24
#endif

/* Rank of pages without floating point: all ranks together are ONE = 2^30.
 * What the rounding eats is handed back evenly at the end of each round, so
 * the sum stays exact.
 */
#define ONE       (1u << 30)
#define DAMP_Q8   218u          /* 0.85 */

static uint32_t next_rank[PAGES];

static uint32_t spread(const uint16_t *first, const uint16_t *target, const uint32_t *rank)
{
    uint32_t dangling = 0;

    for (unsigned p = 0; p < PAGES; p++) {
        const uint16_t *t = target + first[p];
        unsigned n = first[p + 1] - first[p];

        if (n == 0) {
            dangling += rank[p];
            continue;
        }
        uint32_t share = (uint32_t)((uint64_t)rank[p] * DAMP_Q8 / (256u * n));
        while (n--)
            next_rank[*t++] += share;
    }
    return dangling;
}

// ranks[] and the top three pages; returns the rounds it took
int page_rank(const uint16_t first[PAGES + 1], const uint16_t target[LINKS],
              uint32_t ranks[PAGES], uint16_t podium[3], uint32_t tolerance)
{
    int round = 0;
    uint32_t change;

    for (unsigned p = 0; p < PAGES; p++)
        ranks[p] = ONE / PAGES;

    do {
        uint32_t sum = 0, dangling, each, rest;

        for (unsigned p = 0; p < PAGES; p++)
            next_rank[p] = 0;
        dangling = spread(first, target, ranks);
        each = (uint32_t)((uint64_t)dangling * DAMP_Q8 / (256u * PAGES));

        for (unsigned p = 0; p < PAGES; p++) {
            next_rank[p] += each;
            sum += next_rank[p];
        }

        /* teleport and rounding in one go */
        rest = ONE - sum;
        for (unsigned p = 0; p < PAGES; p++)
            next_rank[p] += rest / PAGES + (p < rest % PAGES);

        change = 0;
        for (unsigned p = 0; p < PAGES; p++) {
            change += ranks[p] > next_rank[p] ? ranks[p] - next_rank[p] : next_rank[p] - ranks[p];
            ranks[p] = next_rank[p];
        }
    } while (++round < ROUNDS && change > tolerance);

    for (int k = 0; k < 3; k++) {
        int best = -1;
        for (int p = 0; p < PAGES; p++) {
            if ((k > 0 && p == podium[0]) || (k > 1 && p == podium[1]))
                continue;
            if (best < 0 || ranks[p] > ranks[best])
                best = p;
        }
        podium[k] = (uint16_t)best;
    }
    return round;
}

#ifdef DEMO
#include <stdio.h>
int main(void)
{
    static uint16_t first[PAGES + 1], target[LINKS], podium[3];
    static uint32_t ranks[PAGES];
    for (unsigned k = 0; k < LINKS; k++)
        target[k] = (uint16_t)(k * k % PAGES);
    for (unsigned p = 0; p <= PAGES; p++)
        first[p] = (uint16_t)(p * LINKS / PAGES);
    int r = page_rank(first, target, ranks, podium, 1000);
    printf("%d rounds, best %u\n", r, podium[0]);
    return 0;
}
#endif
