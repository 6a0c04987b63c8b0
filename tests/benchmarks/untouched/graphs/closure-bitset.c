#include <stdint.h>
#include <string.h>
#ifndef TASKS
#define TASKS 60
#endif
#ifndef WORDS
#define WORDS 1             /* at least TASKS / 64, rounded up */
#endif
#ifndef RULES
#define RULES 90
#endif

#define WORD(i)        ((i) >> 6)
#define BIT(i)         ((uint64_t)1 << ((i) & 63))
#define TEST(row, i)   (((row)[WORD(i)] & BIT(i)) != 0)
#define SET(row, i)    ((row)[WORD(i)] |= BIT(i))

/* Who depends on whom, directly or not: transitive closure of the rules
   before[r] -> after[r], one row of bits per task (Warshall). Tasks that
   depend on themselves are marked in cyclic[]. Returns the number of pairs. */
unsigned long dependency_closure(const unsigned char *before, const unsigned char *after,
                                 uint64_t reach[TASKS][WORDS], uint8_t *cyclic)
{
    unsigned long pairs = 0;
    unsigned i, k, w;

    memset(reach, 0, sizeof(uint64_t) * TASKS * WORDS);
    for (i = 0; i < RULES; ++i)
        SET(reach[before[i]], after[i]);

    for (k = 0; k < TASKS; ++k) {
        const uint64_t *via = reach[k];
        for (i = 0; i < TASKS; ++i) {
            if (i == k || !TEST(reach[i], k))
                continue;
            for (w = 0; w < WORDS; ++w)
                reach[i][w] |= via[w];
        }
    }

    for (i = 0; i < TASKS; ++i) {
        cyclic[i] = TEST(reach[i], i);
        for (w = 0; w < WORDS; ++w) {
            uint64_t rest = reach[i][w];
            for (; rest; rest &= rest - 1)
                ++pairs;
        }
    }
    return pairs;
}
