#include <math.h>
#include <string.h>

#ifndef DIM
#define DIM 12
#endif
#ifndef RHS
#define RHS 2
#endif

/* Mixed precision solver: LU in float, residuals in double, corrections until
 * they are small against the solution.  Rows are not moved, perm[] tells where
 * they are; pivots are chosen relative to the largest entry of their row. */

enum solve_status { SOLVED = 0, SINGULAR = -1, SLOW = -2 };

static float lu[DIM * DIM];
static unsigned perm[DIM];

static enum solve_status decompose(const double *a)
{
    float scale[DIM];
    unsigned i, j, k;

    for (i = 0; i < DIM; i++) {
        float big = 0.0f;
        for (j = 0; j < DIM; j++) {
            float v = (float)a[i * DIM + j];
            lu[i * DIM + j] = v;
            if (fabsf(v) > big)
                big = fabsf(v);
        }
        if (big == 0.0f)
            return SINGULAR;
        scale[i] = big;
        perm[i] = i;
    }

    for (k = 0; k < DIM; k++) {
        unsigned pick = k;
        float best = -1.0f;

        for (i = k; i < DIM; i++) {
            float rel = fabsf(lu[perm[i] * DIM + k]) / scale[perm[i]];
            if (rel > best) {
                best = rel;
                pick = i;
            }
        }
        if (best < 1e-5f)
            return SINGULAR;
        unsigned t = perm[k];
        perm[k] = perm[pick];
        perm[pick] = t;

        const float *prow = lu + perm[k] * DIM;
        const float inv = 1.0f / prow[k];
        for (i = k + 1; i < DIM; i++) {
            float *row = lu + perm[i] * DIM;
            const float f = row[k] *= inv;
            if (f != 0.0f)
                for (j = k + 1; j < DIM; j++)
                    row[j] -= f * prow[j];
        }
    }
    return SOLVED;
}

static void substitute(const double *r, float *y)
{
    for (unsigned i = 0; i < DIM; i++) {
        const float *row = lu + perm[i] * DIM;
        float sum = (float)r[perm[i]];
        for (unsigned j = 0; j < i; j++)
            sum -= row[j] * y[j];
        y[i] = sum;
    }
    for (unsigned i = DIM; i-- > 0; ) {
        const float *row = lu + perm[i] * DIM;
        for (unsigned j = i + 1; j < DIM; j++)
            y[i] -= row[j] * y[j];
        y[i] /= row[i];
    }
}

int solve_refined(const double *a, const double *b, double *x, unsigned char *steps)
{
    int status = decompose(a);

    if (status != SOLVED)
        goto leave;

    for (int s = 0; s < RHS; s++, b += DIM, x += DIM) {
        double r[DIM];
        float d[DIM];

        memset(x, 0, DIM * sizeof *x);
        memcpy(r, b, sizeof r);
        steps[s] = 0;

        for (;;) {
            double moved = 0.0, size = 0.0;

            substitute(r, d);
            for (int i = 0; i < DIM; i++) {
                x[i] += d[i];
                moved = fmax(moved, fabs((double)d[i]));
                size = fmax(size, fabs(x[i]));
            }
            if (moved <= 1e-12 * size)
                break;
            if (++steps[s] == 8) {
                status = SLOW;
                break;
            }
            for (int i = 0; i < DIM; i++) {
                r[i] = b[i];
                for (int j = 0; j < DIM; j++)
                    r[i] -= a[i * DIM + j] * x[j];
            }
        }
    }
leave:
    return status;
}
