#include <stdint.h>
#include <string.h>

#ifndef DIM
#define DIM 40
#endif
#ifndef NZA
#define NZA 120
#endif
#ifndef NZB
#define NZB 120
#endif
#ifndef CAPC
#define CAPC 1400
#endif

/* C = A * B over the integers, rowwise (Gustavson), accumulator is an open addressing hash of 128
   slots; each finished row is sorted by column. -1 if C doesn't fit. */

enum { SLOTS = 128, EMPTY = -1 };

typedef struct Csr { const int *ptr, *idx; const int16_t *val; } Csr;

static int     key[SLOTS];
static int64_t sum[SLOTS];

static void add(int k, int64_t v)
{
    unsigned h = ((unsigned)k * 2654435761u) >> 25;
    while (key[h] != k) {
        if (key[h] == EMPTY) {
            key[h] = k;
            sum[h] = 0;
            break;
        }
        h = (h + 1) & (SLOTS - 1);
    }
    sum[h] += v;
}

int spgemm(const int *ap, const int *ai, const int16_t *av,
           const int *bp, const int *bi, const int16_t *bv,
           int *cp, int *ci, int64_t *cv)
{
    const Csr A = { ap, ai, av }, B = { bp, bi, bv };
    int n = 0;

    for (int r = 0; r < DIM; r++) {
        memset(key, 0xff, sizeof key);
        for (int p = A.ptr[r]; p < A.ptr[r + 1]; p++)
            for (int q = B.ptr[A.idx[p]]; q < B.ptr[A.idx[p] + 1]; q++)
                add(B.idx[q], (int64_t)A.val[p] * B.val[q]);

        cp[r] = n;
        for (int s = 0; s < SLOTS; s++) {
            if (key[s] == EMPTY || sum[s] == 0) continue;      /* numerical zeros are dropped */
            if (n == CAPC) return -1;
            int j = n++;
            for (; j > cp[r] && ci[j - 1] > key[s]; j--) {
                ci[j] = ci[j - 1];
                cv[j] = cv[j - 1];
            }
            ci[j] = key[s];
            cv[j] = sum[s];
        }
    }
    cp[DIM] = n;
    return n;
}
