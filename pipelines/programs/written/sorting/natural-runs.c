#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef COUNT
#define COUNT 256
#endif

#define MINRUN 8
#define MAXSTACK 40

typedef struct { uint32_t key; uint32_t tag; } rec_t;
typedef struct { size_t base, len; } run_t;

static rec_t work[COUNT], scratch[COUNT];
static run_t stk[MAXSTACK];
static int top;

static int less(const rec_t *a, const rec_t *b) { return a->key < b->key; }

static size_t find_run(size_t from)
{
    size_t i = from + 1;
    if (i >= COUNT) return COUNT - from;
    if (less(&work[i], &work[i - 1])) {             /* strictly falling: turn round */
        while (i < COUNT && less(&work[i], &work[i - 1])) i++;
        for (size_t l = from, r = i - 1; l < r; l++, r--) {
            rec_t t = work[l]; work[l] = work[r]; work[r] = t;
        }
    } else {
        while (i < COUNT && !less(&work[i], &work[i - 1])) i++;
    }
    /* short runs grow by insertion */
    while (i < COUNT && i - from < MINRUN) {
        rec_t x = work[i];
        size_t j = i;
        for (; j > from && less(&x, &work[j - 1]); j--) work[j] = work[j - 1];
        work[j] = x;
        i++;
    }
    return i - from;
}

static void merge_at(int k)
{
    run_t *a = &stk[k], *b = &stk[k + 1];
    rec_t *dst = work + a->base, *l = scratch, *lend = scratch + a->len;
    rec_t *r = work + b->base, *rend = r + b->len;

    memcpy(scratch, dst, a->len * sizeof *dst);
    while (l < lend && r < rend)
        *dst++ = less(r, l) ? *r++ : *l++;
    while (l < lend)
        *dst++ = *l++;
    a->len += b->len;
    if (k == top - 3) stk[k + 1] = stk[k + 2];
    top--;
}

static void collapse(void)
{
    while (top > 1) {
        int n = top - 2;
        if ((n > 0 && stk[n - 1].len <= stk[n].len + stk[n + 1].len) ||
            (n > 1 && stk[n - 2].len <= stk[n - 1].len + stk[n].len)) {
            if (stk[n - 1].len < stk[n + 1].len) n--;
            merge_at(n);
        } else if (stk[n].len <= stk[n + 1].len) {
            merge_at(n);
        } else
            break;
    }
}

/* Stable sort of (key, position); perm gets the positions. Returns the run count. */
int sort_natural(const uint32_t *keys, uint32_t *perm)
{
    int runs = 0;
    for (size_t i = 0; i < COUNT; i++) work[i] = (rec_t){ keys[i], (uint32_t)i };
    top = 0;
    for (size_t at = 0; at < COUNT; ) {
        size_t n = find_run(at);
        stk[top].base = at;
        stk[top++].len = n;
        runs++;
        collapse();
        at += n;
    }
    while (top > 1) {
        int n = top - 2;
        if (n > 0 && stk[n - 1].len < stk[n + 1].len) n--;
        merge_at(n);
    }
    for (size_t i = 0; i < COUNT; i++) perm[i] = work[i].tag;
    return runs;
}
