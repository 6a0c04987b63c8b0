#include <stdint.h>
#include <string.h>
#ifndef ITEMS
#define ITEMS 200
#endif
#ifndef KEYLEN
#define KEYLEN 4
#endif

typedef unsigned char key_t_[KEYLEN];

struct part { int lo, hi, depth; };

static int key_cmp(const unsigned char *a, const unsigned char *b, int from)
{
    for (int i = from; i < KEYLEN; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static void key_swap(key_t_ *a, key_t_ *b)
{
    key_t_ t;
    memcpy(t, a, KEYLEN);
    memcpy(a, b, KEYLEN);
    memcpy(b, t, KEYLEN);
}

/* In-place MSD radix sort (American flag) of fixed-length byte keys.
   Ranges that remain are kept on an explicit stack, small ones are insertion sorted. */
int flag_sort(unsigned char v[ITEMS][KEYLEN], int cutoff)
{
    static struct part stack[ITEMS * KEYLEN + 1];
    int sp = 0, permuted = 0;

    stack[sp++] = (struct part){0, ITEMS, 0};
    while (sp > 0) {
        struct part p = stack[--sp];
        int start[257] = {0}, next[256];

        if (p.hi - p.lo <= cutoff) {
            for (int i = p.lo + 1; i < p.hi; i++)
                for (int j = i; j > p.lo && key_cmp(v[j], v[j - 1], p.depth) < 0; j--)
                    key_swap(&v[j], &v[j - 1]);
            continue;
        }
        for (int i = p.lo; i < p.hi; i++)
            start[v[i][p.depth] + 1]++;
        start[0] = p.lo;
        for (int b = 0; b < 256; b++) {
            start[b + 1] += start[b];
            next[b] = start[b];
        }
        for (int b = 0; b < 256; b++)
            while (next[b] < start[b + 1]) {
                int home = v[next[b]][p.depth];
                if (home == b) {
                    next[b]++;
                } else {
                    key_swap(&v[next[b]], &v[next[home]++]);
                    permuted++;
                }
            }
        if (p.depth + 1 < KEYLEN)
            for (int b = 255; b >= 0; b--)
                if (start[b + 1] - start[b] > 1)
                    stack[sp++] = (struct part){start[b], start[b + 1], p.depth + 1};
    }
    return permuted;
}
