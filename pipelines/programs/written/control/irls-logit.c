/* Logistic regression, Newton steps with a small ridge; Cholesky in place. */
#include <math.h>

#ifndef OBS
#define OBS 60
#endif
#ifndef FEAT
#define FEAT 4
#endif
#define K (FEAT + 1)        /* intercept first */
#define TRI(i, j) ((i) * ((i) + 1) / 2 + (j))

static int cholesky_solve(double *a, double *b)
{
    int i, j, k;

    for (j = 0; j < K; j++) {
        double d = a[TRI(j, j)];
        for (k = 0; k < j; k++) d -= a[TRI(j, k)] * a[TRI(j, k)];
        if (d <= 1e-12) return j + 1;
        d = sqrt(d);
        a[TRI(j, j)] = d;
        for (i = j + 1; i < K; i++) {
            double s = a[TRI(i, j)];
            for (k = 0; k < j; k++) s -= a[TRI(i, k)] * a[TRI(j, k)];
            a[TRI(i, j)] = s / d;
        }
    }
    for (i = 0; i < K; i++) {
        for (k = 0; k < i; k++) b[i] -= a[TRI(i, k)] * b[k];
        b[i] /= a[TRI(i, i)];
    }
    for (i = K - 1; i >= 0; i--) {
        for (k = i + 1; k < K; k++) b[i] -= a[TRI(k, i)] * b[k];
        b[i] /= a[TRI(i, i)];
    }
    return 0;
}

/* x row by row, y 0/1. beta[K], se[K] = 1/sqrt of the information diagonal.
   Returns iterations used, or minus the pivot at which the matrix failed. */
int logit_fit(const double *x, const unsigned char *y, double ridge, double *beta, double *se, double *loglik)
{
    double info[K * (K + 1) / 2], grad[K], diag[K];
    int it, i, j, o, rc;

    for (j = 0; j < K; j++) beta[j] = se[j] = 0.0;
    for (it = 1; it <= 12; it++) {
        double ll = 0.0, biggest = 0.0;

        for (i = 0; i < K * (K + 1) / 2; i++) info[i] = 0.0;
        for (j = 0; j < K; j++) {
            info[TRI(j, j)] = j ? ridge : 0.0;
            grad[j] = j ? -ridge * beta[j] : 0.0;
        }
        for (o = 0; o < OBS; o++) {
            const double *r = x + o * FEAT;
            double eta = beta[0], p, w, v[K];

            v[0] = 1.0;
            for (j = 1; j < K; j++) {
                v[j] = r[j - 1];
                eta += beta[j] * v[j];
            }
            if (eta > 30.0) eta = 30.0;
            if (eta < -30.0) eta = -30.0;
            p = 1.0 / (1.0 + exp(-eta));
            w = p * (1.0 - p);
            ll += y[o] ? log(p) : log(1.0 - p);
            for (i = 0; i < K; i++) {
                grad[i] += v[i] * ((double)y[o] - p);
                for (j = 0; j <= i; j++) info[TRI(i, j)] += w * v[i] * v[j];
            }
        }
        *loglik = ll;
        for (j = 0; j < K; j++) diag[j] = info[TRI(j, j)];
        rc = cholesky_solve(info, grad);
        if (rc) return -rc;
        for (j = 0; j < K; j++) {
            beta[j] += grad[j];
            if (fabs(grad[j]) > biggest) biggest = fabs(grad[j]);
            se[j] = diag[j] > 0.0 ? 1.0 / sqrt(diag[j]) : 0.0;
        }
        if (biggest < 1e-7) break;
    }
    return it;
}
