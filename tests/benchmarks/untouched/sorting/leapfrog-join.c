#include <stdint.h>

#ifndef NA
#define NA 120
#endif
#ifndef NB
#define NB 400
#endif
#ifndef NC
#define NC 700
#endif

#define LISTS 3

typedef struct {
    const uint32_t *pos;
    const uint32_t *end;
} cursor;

/* Moves the cursor to the first entry >= target. Steps double until they are
   too far, then binary search inside the last step. Returns 0 at the end. */
static int seek(cursor *c, uint32_t target)
{
    const uint32_t *lo = c->pos;
    uint32_t step = 1;

    if (lo == c->end)
        return 0;
    if (*lo >= target)
        return 1;

    /* *lo < target from here on */
    while ((uint32_t)(c->end - lo) > step && lo[step] < target) {
        lo += step;
        step <<= 1;
    }
    const uint32_t *hi = (uint32_t)(c->end - lo) > step ? lo + step : c->end;
    while (hi - lo > 1) {
        const uint32_t *mid = lo + (hi - lo) / 2;
        if (*mid < target) lo = mid;
        else               hi = mid;
    }
    c->pos = hi;
    return hi != c->end;
}

/* Documents that are in all three posting lists (each ascending, repetitions
   allowed). The three cursors take turns: whoever is behind jumps to the
   largest value seen. Returns the number of documents. */
uint32_t posting_join(const uint32_t a[NA], const uint32_t b[NB], const uint32_t c[NC],
                      uint32_t out[NA])
{
    cursor list[LISTS] = { { a, a + NA }, { b, b + NB }, { c, c + NC } };
    uint32_t found = 0, agree = 1, turn = 1;
    uint32_t target = a[0];

    while (seek(&list[turn], target)) {
        uint32_t here = *list[turn].pos;

        if (here == target) {
            if (++agree == LISTS) {
                out[found++] = target;
                if (target == UINT32_MAX)
                    break;
                target++;
                agree = 0;
            }
        } else {
            target = here;
            agree = 1;
        }
        turn = (turn + 1) % LISTS;
    }

    for (uint32_t i = found; i < NA; i++)
        out[i] = 0;
    return found;
}
