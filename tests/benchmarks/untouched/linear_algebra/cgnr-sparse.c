/*
 * Damped least squares with a sparse matrix:
 *
 *     minimise |A x - b|^2 + lambda |x|^2
 *
 * Conjugate gradients on the normal equations; A^T A is never formed. A is
 * kept by compressed rows, the product with the transpose scatters.
 */
#ifndef ROWS
#define ROWS 48
#endif
#ifndef COLS
#define COLS 32
#endif
#ifndef NNZ
#define NNZ 192
#endif
#ifndef MAX_ITER
#define MAX_ITER 10
#endif

struct csr {
    const int *start;
    const int *col;
    const double *val;
};

static double r[ROWS];      /* b - A x              */
static double q[ROWS];      /* A p                  */
static double s[COLS];      /* A^T r - lambda x     */
static double p[COLS];

static void times(const struct csr *a, const double *x, double *y)
{
    for (int i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->val[k] * x[a->col[k]];
        y[i] = sum;
    }
}

static void transposed_times_add(const struct csr *a, const double *y, double *x)
{
    for (int i = 0; i < ROWS; i++) {
        const double f = y[i];
        if (f == 0.0)
            continue;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            x[a->col[k]] += a->val[k] * f;
    }
}

static double square(const double *v, int n)
{
    double sum = 0.0;
    while (n-- > 0) {
        sum += *v * *v;
        v++;
    }
    return sum;
}

/* number of iterations; *residual gets |A x - b|^2 */
int damped_least_squares(const int start[ROWS + 1], const int col[NNZ],
                         const double val[NNZ], const double b[ROWS],
                         double lambda, double x[COLS], double *residual)
{
    const struct csr a = { start, col, val };
    double gamma, stop;
    int it, j;

    for (j = 0; j < COLS; j++)
        x[j] = s[j] = 0.0;
    for (int i = 0; i < ROWS; i++)
        r[i] = b[i];
    transposed_times_add(&a, r, s);
    for (j = 0; j < COLS; j++)
        p[j] = s[j];

    gamma = square(s, COLS);
    stop = 1e-10 * gamma + 1e-24;

    for (it = 0; it < MAX_ITER && gamma > stop; it++) {
        times(&a, p, q);

        const double alpha = gamma / (square(q, ROWS) + lambda * square(p, COLS));

        for (j = 0; j < COLS; j++)
            x[j] += alpha * p[j];
        for (int i = 0; i < ROWS; i++)
            r[i] -= alpha * q[i];

        for (j = 0; j < COLS; j++)
            s[j] = -lambda * x[j];
        transposed_times_add(&a, r, s);

        const double next = square(s, COLS);
        const double beta = next / gamma;
        gamma = next;
        for (j = 0; j < COLS; j++)
            p[j] = s[j] + beta * p[j];
    }
    *residual = square(r, ROWS);
    return it;
}
