#include <math.h>
#include <stddef.h>
#ifndef SEQ
#define SEQ 20
#endif
#ifndef DIM
#define DIM 12
#endif
#ifndef BLK
#define BLK 4
#endif

typedef float real;

static real dot(const real *a, const real *b)
{
    real s = 0;
    for (int d = 0; d < DIM; d++)
        s += a[d] * b[d];
    return s;
}

/*
 * Causal single-head attention; keys are visited in blocks of BLK and the
 * softmax is kept as (running max m, running sum l), so no SEQ x SEQ matrix.
 */
void attention_causal(const real *restrict q, const real *restrict k,
                      const real *restrict v, real *restrict o, real scale)
{
    for (size_t i = 0; i < SEQ; i++) {
        real m = -1e30f, l = 0, acc[DIM] = {0};

        for (size_t j0 = 0; j0 <= i; j0 += BLK) {
            size_t j1 = j0 + BLK;
            if (j1 > i + 1)
                j1 = i + 1;
            real s[BLK], bm = m;
            for (size_t j = j0; j < j1; j++) {
                s[j - j0] = scale * dot(q + i * DIM, k + j * DIM);
                bm = fmaxf(bm, s[j - j0]);
            }
            real corr = expf(m - bm);
            l *= corr;
            for (int d = 0; d < DIM; d++)
                acc[d] *= corr;
            for (size_t j = j0; j < j1; j++) {
                real p = expf(s[j - j0] - bm);
                l += p;
                for (int d = 0; d < DIM; d++)
                    acc[d] += p * v[j * DIM + d];
            }
            m = bm;
        }
        for (int d = 0; d < DIM; d++)
            o[i * DIM + d] = acc[d] / l;
    }
}
