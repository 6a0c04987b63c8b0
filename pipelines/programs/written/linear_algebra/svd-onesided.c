#include <math.h>
#include <stddef.h>

#ifndef ROWS
#define ROWS 20
#endif
#ifndef COLS
#define COLS 10
#endif

// One-sided Jacobi SVD (Hestenes), column major. U*S overwrites A, singular values sorted descending.

static void col_rotate(double *x, double *y, size_t n, double c, double s)
{
    for (size_t i = 0; i < n; ++i) {
        const double t = x[i];
        x[i] = c * t - s * y[i];
        y[i] = s * t + c * y[i];
    }
}

int svd_hestenes(double *A, double *V, double *sigma, double tol)
{
    for (size_t j = 0; j < COLS; ++j)
        for (size_t i = 0; i < COLS; ++i)
            V[j * COLS + i] = (i == j);

    int sweep = 0, rotated;
    do {
        rotated = 0;
        for (size_t p = 0; p + 1 < COLS; ++p)
            for (size_t q = p + 1; q < COLS; ++q) {
                double *x = A + p * ROWS, *y = A + q * ROWS;
                double a = 0.0, b = 0.0, g = 0.0;
                for (size_t i = 0; i < ROWS; ++i) {
                    a += x[i] * x[i];
                    b += y[i] * y[i];
                    g += x[i] * y[i];
                }
                if (fabs(g) <= tol * sqrt(a * b))
                    continue;
                double zeta = (b - a) / (2.0 * g);
                double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
                double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
                col_rotate(x, y, ROWS, c, s);
                col_rotate(V + p * COLS, V + q * COLS, COLS, c, s);
                ++rotated;
            }
    } while (rotated && ++sweep < 12);

    for (size_t j = 0; j < COLS; ++j) {
        double n = 0.0;
        for (size_t i = 0; i < ROWS; ++i)
            n += A[j * ROWS + i] * A[j * ROWS + i];
        sigma[j] = sqrt(n);
    }
    /* selection sort, columns follow */
    for (size_t j = 0; j < COLS; ++j) {
        size_t m = j;
        for (size_t k = j + 1; k < COLS; ++k)
            if (sigma[k] > sigma[m]) m = k;
        if (m == j) continue;
        double t = sigma[j]; sigma[j] = sigma[m]; sigma[m] = t;
        col_rotate(A + j * ROWS, A + m * ROWS, ROWS, 0.0, 1.0);
        col_rotate(V + j * COLS, V + m * COLS, COLS, 0.0, 1.0);
    }
    return sweep;
}
