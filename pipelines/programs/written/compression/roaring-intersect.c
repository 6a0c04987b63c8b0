#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef CARDA
#define CARDA 300
#endif
#ifndef CARDB
#define CARDB 40
#endif
#ifndef SPAN
#define SPAN 1024       /* values per container, multiple of 64 */
#endif

#define ARRAY_LIMIT (SPAN / 16)
#define WORDS (SPAN / 64)

enum kind { C_ARRAY, C_BITMAP };

struct container {
    enum kind kind;
    int card;
    union {
        uint16_t arr[ARRAY_LIMIT];
        uint64_t bits[WORDS];
    } u;
};

static int pop64(uint64_t x)
{
    int n = 0;
    for (; x; x &= x - 1)
        ++n;
    return n;
}

/* from sorted values, repeated ones allowed */
static void container_load(struct container *c, const uint16_t *v, int n)
{
    int distinct = n > 0, i;

    for (i = 1; i < n; ++i)
        distinct += v[i] != v[i - 1];
    memset(c, 0, sizeof *c);
    c->card = distinct;
    c->kind = distinct <= ARRAY_LIMIT ? C_ARRAY : C_BITMAP;
    if (c->kind == C_BITMAP) {
        for (i = 0; i < n; ++i)
            c->u.bits[v[i] / 64] |= 1ull << (v[i] % 64);
        return;
    }
    for (i = distinct = 0; i < n; ++i)
        if (i == 0 || v[i] != v[i - 1])
            c->u.arr[distinct++] = v[i];
}

static int lower_bound(const uint16_t *a, int lo, int hi, uint16_t key)
{
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (a[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static int container_and(const struct container *a, const struct container *b, uint16_t *out)
{
    int n = 0, i, j;

    if (a->kind == C_BITMAP && b->kind == C_BITMAP) {
        for (i = 0; i < WORDS; ++i) {
            uint64_t w = a->u.bits[i] & b->u.bits[i];
            while (w) {
                uint64_t low = w & (0 - w);
                out[n++] = (uint16_t)(64 * i + pop64(low - 1));
                w ^= low;
            }
        }
        return n;
    }
    if (a->kind == C_BITMAP)
        return container_and(b, a, out);
    if (b->kind == C_BITMAP) {
        for (i = 0; i < a->card; ++i)
            if (b->u.bits[a->u.arr[i] / 64] >> (a->u.arr[i] % 64) & 1)
                out[n++] = a->u.arr[i];
        return n;
    }
    /* two arrays: skip ahead with binary search */
    for (i = j = 0; i < a->card && j < b->card; ++i) {
        j = lower_bound(b->u.arr, j, b->card, a->u.arr[i]);
        if (j < b->card && b->u.arr[j] == a->u.arr[i])
            out[n++] = a->u.arr[i];
    }
    return n;
}

/* a AND b, b AND c, a AND (b AND c): three results behind one another; sizes in count */
int roaring_query(const uint16_t a[CARDA], const uint16_t b[CARDB], const uint16_t c[CARDB],
                  uint16_t out[3 * SPAN], int count[3])
{
    static struct container ca, cb, cc, t;

    container_load(&ca, a, CARDA);
    container_load(&cb, b, CARDB);
    container_load(&cc, c, CARDB);
    count[0] = container_and(&ca, &cb, out);
    count[1] = container_and(&cb, &cc, out + SPAN);
    container_load(&t, out + SPAN, count[1]);
    count[2] = container_and(&ca, &t, out + 2 * SPAN);
    return ca.kind + 2 * cb.kind + 4 * cc.kind;
}
