#include <stddef.h>

#ifndef N
#define N 32
#endif
#ifndef NNZ_A
#define NNZ_A 96
#endif
#ifndef NNZ_B
#define NNZ_B 112
#endif
#ifndef CAPACITY
#define CAPACITY 512
#endif

#define NONE   (-1)
#define ENDED  (-2)

typedef struct sparse_ {
    int     rows;
    int    *ptr;
    int    *idx;
    long   *val;
    size_t  room;
} sparse;

static long acc[N];     // dense accumulator of one row
static int  chain[N];    // columns in use, chained

/* ascending order of columns, rows are short */
static void sort_row(int *idx, long *val, int n)
{
    for (int i = 1; i < n; ++i) {
        const int  c = idx[i];
        const long v = val[i];
        int j = i;
        for (; j > 0 && idx[j - 1] > c; --j) {
            idx[j] = idx[j - 1];
            val[j] = val[j - 1];
        }
        idx[j] = c;
        val[j] = v;
    }
}

static int multiply(const sparse *a, const sparse *b, sparse *c)
{
    int total = 0;

    c->ptr[0] = 0;
    for (int i = 0; i < a->rows; ++i) {
        int head = ENDED;

        for (int ka = a->ptr[i]; ka < a->ptr[i + 1]; ++ka) {
            const int  k = a->idx[ka];
            const long f = a->val[ka];

            if (f == 0)
                continue;
            for (int kb = b->ptr[k]; kb < b->ptr[k + 1]; ++kb) {
                const int j = b->idx[kb];
                if (chain[j] == NONE) {
                    chain[j] = head;
                    head = j;
                }
                acc[j] += f * b->val[kb];
            }
        }

        // empty the accumulator, even if there is no room: it must be clean
        const int first = total;
        int full = 0;
        while (head != ENDED) {
            const int j = head;
            head = chain[j];
            chain[j] = NONE;
            if (acc[j] != 0 && !full) {
                if ((size_t)total < c->room) {
                    c->idx[total] = j;
                    c->val[total++] = acc[j];
                } else {
                    full = 1;
                }
            }
            acc[j] = 0;
        }
        if (full)
            return -(i + 1);
        sort_row(c->idx + first, c->val + first, total - first);
        c->ptr[i + 1] = total;
    }
    return total;
}

/* C = A B, all by compressed rows. Duplicates in A and B add up, sums that
   cancel are dropped. Returns the number of entries, or -(row + 1) for the row
   that did not fit. */
int sparse_product(int *a_ptr, int *a_idx, long *a_val,
                   int *b_ptr, int *b_idx, long *b_val,
                   int *c_ptr, int *c_idx, long *c_val)
{
    const sparse a = { N, a_ptr, a_idx, a_val, NNZ_A };
    const sparse b = { N, b_ptr, b_idx, b_val, NNZ_B };
    sparse c = { N, c_ptr, c_idx, c_val, CAPACITY };

    for (int j = 0; j < N; ++j) {
        chain[j] = NONE;
        acc[j] = 0;
    }
    return multiply(&a, &b, &c);
}
