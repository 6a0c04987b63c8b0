#include <math.h>

#ifndef P
#define P 8          // unknowns
#endif
#ifndef OBS
#define OBS 60
#endif

/* Recursive least squares by row-wise Givens rotations (QR-RLS), forgetting factor.
   R stored as a packed upper triangle with the right hand side as an additional column. */

typedef float real;

struct qr_rls { real r[P][P + 1]; real resid; int rotations; };

static void rotate(real *pivot, real *row, int from)
{
    real a = pivot[from], b = row[from], c, s;
    if (fabsf(b) > fabsf(a)) {
        real t = a / b;
        s = 1.0f / sqrtf(1.0f + t * t);
        c = s * t;
    } else {
        real t = b / a;
        c = 1.0f / sqrtf(1.0f + t * t);
        s = c * t;
    }
    for (int j = from; j <= P; j++) {
        real x = pivot[j], y = row[j];
        pivot[j] = c * x + s * y;
        row[j] = c * y - s * x;
    }
}

real rls_solve(struct qr_rls *q, const real (*obs)[P], const real *rhs, real forget, real *theta)
{
    for (int i = 0; i < P; i++)
        for (int j = 0; j <= P; j++)
            q->r[i][j] = i == j ? 1e-2f : 0.0f;
    q->resid = 0.0f;
    q->rotations = 0;

    for (int n = 0; n < OBS; n++) {
        real row[P + 1];
        for (int j = 0; j < P; j++) row[j] = obs[n][j];
        row[P] = rhs[n];

        q->resid *= forget;
        for (int i = 0; i < P; i++) {
            for (int j = i; j <= P; j++) q->r[i][j] *= forget;
            if (row[i] == 0.0f) continue;
            rotate(q->r[i], row, i);
            q->rotations++;
        }
        q->resid += row[P] * row[P];
    }

    for (int i = P - 1; i >= 0; i--) {
        real t = q->r[i][P];
        for (int j = i + 1; j < P; j++) t -= q->r[i][j] * theta[j];
        theta[i] = t / q->r[i][i];
    }
    return sqrtf(q->resid / OBS);
}
