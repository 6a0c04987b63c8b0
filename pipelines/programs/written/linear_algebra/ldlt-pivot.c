/*
 * Symmetric indefinite factorisation P A P' = L D L', Bunch-Kaufman (partial pivoting, 1x1 and 2x2
 * blocks), packed lower triangle by columns, and inertia.
 */
#include <math.h>
#ifndef N
#define N 24
#endif

#define IX(i, j) ((j) * N - (j) * ((j) - 1) / 2 + (i) - (j))     /* i >= j */
#define S(a, i, j) ((a)[(i) >= (j) ? IX(i, j) : IX(j, i)])

static void swap_sym(double *a, int p, int q)
{
    if (p == q) return;
    for (int k = 0; k < N; k++) {
        if (k == p || k == q) continue;
        double t = S(a, p, k);
        S(a, p, k) = S(a, q, k);
        S(a, q, k) = t;
    }
    double t = S(a, p, p);
    S(a, p, p) = S(a, q, q);
    S(a, q, q) = t;
}

/* piv[k] = row swapped with k (1x1), or -1-row for both columns of a 2x2 block */
int ldlt_bk(double *a, int piv[N], int inertia[3])
{
    const double alpha = 0.6403882032022076;
    int k = 0;

    inertia[0] = inertia[1] = inertia[2] = 0;
    while (k < N) {
        int imax = k, size = 1, kp = k;
        double colmax = 0.0, diag = fabs(S(a, k, k));
        for (int i = k + 1; i < N; i++)
            if (fabs(S(a, i, k)) > colmax) { colmax = fabs(S(a, i, k)); imax = i; }

        if (colmax == 0.0 && diag == 0.0) {
            piv[k] = k;
            k++;
            inertia[2]++;
            continue;
        }
        if (diag < alpha * colmax) {
            double rowmax = 0.0;
            for (int j = k; j < N; j++)
                if (j != imax && fabs(S(a, imax, j)) > rowmax) rowmax = fabs(S(a, imax, j));
            if (diag * rowmax >= alpha * colmax * colmax)
                kp = k;
            else if (fabs(S(a, imax, imax)) >= alpha * rowmax)
                kp = imax;
            else {
                kp = imax;
                size = 2;
            }
        }

        if (size == 1) {
            swap_sym(a, k, kp);
            double d = S(a, k, k);
            for (int j = k + 1; j < N; j++) {
                double l = S(a, j, k) / d;
                for (int i = j; i < N; i++)
                    S(a, i, j) -= S(a, i, k) * l;
            }
            for (int i = k + 1; i < N; i++) S(a, i, k) /= d;
            inertia[d > 0.0 ? 0 : 1]++;
            piv[k] = kp;
            k += 1;
        } else {
            swap_sym(a, k + 1, kp);
            double p = S(a, k, k), q = S(a, k + 1, k), r = S(a, k + 1, k + 1);
            double det = p * r - q * q;                     /* negative by the choice of pivots */
            for (int j = k + 2; j < N; j++) {
                double x = S(a, j, k), y = S(a, j, k + 1);
                double u = (r * x - q * y) / det, v = (p * y - q * x) / det;
                for (int i = j; i < N; i++)
                    S(a, i, j) -= S(a, i, k) * u + S(a, i, k + 1) * v;
                S(a, j, k) = u;
                S(a, j, k + 1) = v;
            }
            inertia[0]++;
            inertia[1]++;
            piv[k] = piv[k + 1] = -1 - kp;
            k += 2;
        }
    }
    return inertia[2];
}
