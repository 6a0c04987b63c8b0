#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 255
#endif
#ifndef Q
#define Q 200
#endif

static int32_t  tree[N + 1];
static uint16_t rank_of[N + 1];

/* fill the breadth-first layout from the sorted array */
static size_t place(const int32_t *sorted, size_t i, size_t k)
{
    /* iterative in-order walk: descend left, take, go right */
    size_t stack[32];
    int sp = 0;
    while (k <= N || sp > 0) {
        while (k <= N) {
            stack[sp++] = k;
            k *= 2;
        }
        k = stack[--sp];
        tree[k] = sorted[i];
        rank_of[k] = (uint16_t)i++;
        k = 2 * k + 1;
    }
    return i;
}

void eytz_rank(const int32_t *sorted, const int32_t *query, uint16_t *lower)
{
    place(sorted, 0, 1);
    for (size_t q = 0; q < Q; q++) {
        size_t k = 1;
        while (k <= N)
            k = 2 * k + (tree[k] < query[q]);
        k >>= __builtin_ffsl((long)~k);       /* cancel the trailing right turns */
        lower[q] = k ? rank_of[k] : N;
    }
}
