#include <stddef.h>

#ifndef KEYS
#define KEYS 250
#endif
#ifndef LOOKUPS
#define LOOKUPS 150
#endif

typedef float real;

static real   tree[KEYS + 1];      /* breadth first order, root at 1 */
static size_t rank_of[KEYS + 1];   /* position in the sorted array   */

/* Walks the implicit tree in order and deals out the sorted keys. */
static void layOut(const real *sorted)
{
    size_t node = 1, next = 0;

    while (2 * node <= KEYS)
        node *= 2;
    for (;;) {
        tree[node]    = sorted[next];
        rank_of[node] = next;
        if (++next == KEYS)
            return;
        if (2 * node + 1 <= KEYS) {          /* leftmost of the right side */
            node = 2 * node + 1;
            while (2 * node <= KEYS)
                node *= 2;
        } else {                             /* up until we came from the left */
            while (node & 1)
                node >>= 1;
            node >>= 1;
        }
    }
}

/* Number of keys below x. The descent has no branch that depends on keys. */
static size_t lowerBound(real x)
{
    size_t node = 1;

    while (node <= KEYS)
        node = 2 * node + (tree[node] < x);
    /* take back the steps to the right, and the step to the left before */
    while (node & 1)
        node >>= 1;
    node >>= 1;
    return node ? rank_of[node] : KEYS;
}

/* Interpolates the curve (knot, value) at every x; outside it is constant. */
void curveLookup(const real *knot, const real *value, const real *x, real *y)
{
    layOut(knot);

    for (size_t i = 0; i < LOOKUPS; i++) {
        size_t hi = lowerBound(x[i]);

        if (hi == 0)
            y[i] = value[0];
        else if (hi == KEYS)
            y[i] = value[KEYS - 1];
        else {
            real left = knot[hi - 1], width = knot[hi] - left;
            /* knot[hi-1] < x <= knot[hi], so the width is positive */
            y[i] = value[hi - 1] + (value[hi] - value[hi - 1]) * ((x[i] - left) / width);
        }
    }
}
