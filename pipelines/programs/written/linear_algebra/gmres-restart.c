#include <math.h>

#ifndef N
#define N 64
#endif
#ifndef M
#define M 8          /* restart length */
#endif
#ifndef RESTARTS
#define RESTARTS 4
#endif

/* GMRES(m) for the upwind convection-diffusion operator on a line with a periodic reaction
   coefficient; the matrix is never formed. Modified Gram-Schmidt, Givens on the Hessenberg part. */

struct op { double diff, wind; const double *react; };

static double basis[M + 1][N];

static void apply(const struct op *o, const double *u, double *v)
{
    for (int i = 0; i < N; i++) {
        double l = i ? u[i - 1] : 0.0, r = i < N - 1 ? u[i + 1] : 0.0;
        v[i] = (2.0 * u[i] - l - r) * o->diff + o->wind * (u[i] - l) + o->react[i] * u[i];
    }
}

static double dot(const double *a, const double *b)
{
    double s = 0.0;
    for (int i = 0; i < N; i++) s += a[i] * b[i];
    return s;
}

int gmres(const double *react, const double *rhs, double *x, double diff, double wind, double tol, double *resid)
{
    struct op o = { diff, wind, react };
    int iters = 0;
    double target = tol * (sqrt(dot(rhs, rhs)) + 1e-30);

    for (int i = 0; i < N; i++) x[i] = 0.0;

    for (int cycle = 0; cycle < RESTARTS; cycle++) {
        double h[M + 1][M], c[M], s[M], g[M + 1], y[M];
        int k;

        apply(&o, x, basis[0]);
        for (int i = 0; i < N; i++) basis[0][i] = rhs[i] - basis[0][i];
        double beta = sqrt(dot(basis[0], basis[0]));
        *resid = beta;
        if (beta <= target) return iters;
        for (int i = 0; i < N; i++) basis[0][i] /= beta;
        g[0] = beta;

        for (k = 0; k < M; k++) {
            double *w = basis[k + 1];
            apply(&o, basis[k], w);
            iters++;
            for (int j = 0; j <= k; j++) {
                h[j][k] = dot(w, basis[j]);
                for (int i = 0; i < N; i++) w[i] -= h[j][k] * basis[j][i];
            }
            double nw = sqrt(dot(w, w));
            for (int j = 0; j < k; j++) {
                double t = c[j] * h[j][k] + s[j] * h[j + 1][k];
                h[j + 1][k] = -s[j] * h[j][k] + c[j] * h[j + 1][k];
                h[j][k] = t;
            }
            double d = sqrt(h[k][k] * h[k][k] + nw * nw);
            if (d < 1e-14) break;
            c[k] = h[k][k] / d;
            s[k] = nw / d;
            h[k][k] = d;
            g[k + 1] = -s[k] * g[k];
            g[k] = c[k] * g[k];
            if (fabs(g[k + 1]) <= target || nw < 1e-14) { k++; break; }
            for (int i = 0; i < N; i++) w[i] /= nw;
        }

        for (int i = k - 1; i >= 0; i--) {
            double t = g[i];
            for (int j = i + 1; j < k; j++) t -= h[i][j] * y[j];
            y[i] = t / h[i][i];
        }
        for (int j = 0; j < k; j++)
            for (int i = 0; i < N; i++) x[i] += y[j] * basis[j][i];
    }
    apply(&o, x, basis[0]);
    for (int i = 0; i < N; i++) basis[0][i] -= rhs[i];
    *resid = sqrt(dot(basis[0], basis[0]));
    return *resid <= target ? iters : -iters;
}
