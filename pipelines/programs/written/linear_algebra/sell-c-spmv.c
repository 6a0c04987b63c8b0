/* SpMV in sliced ELLPACK (SELL-C-sigma). Conversion from CSR is part of the call: rows are sorted
   by length within windows of SIGMA, cut into chunks of C rows, padded chunkwise. */
#include <stddef.h>

#ifndef ROWS
#define ROWS 64
#endif
#ifndef NNZ
#define NNZ 400
#endif
#ifndef CHUNK
#define CHUNK 4
#endif
#ifndef SIGMA
#define SIGMA 16
#endif
#define NCHUNK (ROWS / CHUNK)

/* worst case padding: every nonzero alone in its chunk column */
static double  val[NNZ * CHUNK];
static int     col[NNZ * CHUNK];
static size_t  chunk_ptr[NCHUNK + 1];
static int     width[NCHUNK];
static int     perm[ROWS];

static void build(const int *rowptr, const int *colidx, const double *a)
{
    for (int w = 0; w < ROWS; w += SIGMA) {
        int end = w + SIGMA < ROWS ? w + SIGMA : ROWS;
        for (int i = w; i < end; i++) {            /* insertion, descending length, stable */
            int len = rowptr[i + 1] - rowptr[i], j = i;
            while (j > w && rowptr[perm[j - 1] + 1] - rowptr[perm[j - 1]] < len) {
                perm[j] = perm[j - 1];
                j--;
            }
            perm[j] = i;
        }
    }
    chunk_ptr[0] = 0;
    for (int c = 0; c < NCHUNK; c++) {
        width[c] = 0;
        for (int r = 0; r < CHUNK; r++) {
            int row = perm[c * CHUNK + r], len = rowptr[row + 1] - rowptr[row];
            if (len > width[c]) width[c] = len;
        }
        for (int k = 0; k < width[c]; k++)
            for (int r = 0; r < CHUNK; r++) {
                int row = perm[c * CHUNK + r], src = rowptr[row] + k;
                size_t dst = chunk_ptr[c] + (size_t)(k * CHUNK + r);
                int live = src < rowptr[row + 1];
                val[dst] = live ? a[src] : 0.0;
                col[dst] = live ? colidx[src] : 0;
            }
        chunk_ptr[c + 1] = chunk_ptr[c] + (size_t)(width[c] * CHUNK);
    }
}

size_t sell_spmv(const int *rowptr, const int *colidx, const double *a, const double *x, double *y)
{
    build(rowptr, colidx, a);
    for (int c = 0; c < NCHUNK; c++) {
        double acc[CHUNK] = {0};
        const double *v = val + chunk_ptr[c];
        const int *ci = col + chunk_ptr[c];
        for (int k = 0; k < width[c]; k++)
            for (int r = 0; r < CHUNK; r++)
                acc[r] += *v++ * x[*ci++];
        for (int r = 0; r < CHUNK; r++)
            y[perm[c * CHUNK + r]] = acc[r];
    }
    return chunk_ptr[NCHUNK] - (size_t)rowptr[ROWS];     /* padding */
}
