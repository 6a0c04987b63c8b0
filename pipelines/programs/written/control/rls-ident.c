#include <string.h>

#ifndef NA
#define NA 2
#endif
#ifndef NB
#define NB 2
#endif
#ifndef NSAMP
#define NSAMP 80
#endif
#define NPAR (NA + NB)

/* Identification of an ARX model by recursive least squares in UD form
 * (Bierman update), with forgetting. Only U's upper triangle is used. */

static double U[NPAR][NPAR], D[NPAR], theta[NPAR];

static double ud_update(const double phi[NPAR], double y, double lambda)
{
    double f[NPAR], v[NPAR], k[NPAR];
    double alpha, err = y;
    int i, j;

    for (j = 0; j < NPAR; j++) {
        f[j] = phi[j];
        for (i = 0; i < j; i++)
            f[j] += U[i][j] * phi[i];
        v[j] = D[j] * f[j];
        err -= phi[j] * theta[j];
    }

    alpha = lambda + v[0] * f[0];
    D[0] /= alpha;
    k[0] = v[0];
    for (j = 1; j < NPAR; j++) {
        double old = alpha, p = -f[j] / old;
        alpha += v[j] * f[j];
        D[j] *= old / (alpha * lambda);
        k[j] = v[j];
        for (i = 0; i < j; i++) {
            double u = U[i][j];
            U[i][j] = u + k[i] * p;
            k[i] += v[j] * u;
        }
    }
    for (i = 0; i < NPAR; i++)
        theta[i] += k[i] / alpha * err;
    return err;
}

/*
 * The plant is simulated with the true coefficients (scaled to a stable range), the
 * estimator sees input and noisy output. par: estimates over time.
 * Returns the mean of the squared prediction error of the last quarter.
 */
double rls_identify(const double *u, const double *noise, const double *truth, double lambda, double (*par)[NPAR])
{
    double yh[NA], uh[NB], phi[NPAR], mse = 0.0;
    int t, i, tail = 0;

    memset(U, 0, sizeof U);
    memset(yh, 0, sizeof yh);
    memset(uh, 0, sizeof uh);
    for (i = 0; i < NPAR; i++) {
        U[i][i] = 1.0;
        D[i] = 1000.0;
        theta[i] = 0.0;
    }
    for (t = 0; t < NSAMP; t++) {
        double y = 0.01 * noise[t], e;

        memmove(uh + 1, uh, (NB - 1) * sizeof *uh);
        uh[0] = u[t];
        for (i = 0; i < NA; i++)
            y += truth[i] * 0.9 / NA * yh[i];
        for (i = 0; i < NB; i++)
            y += truth[NA + i] * uh[i];
        for (i = 0; i < NA; i++) phi[i] = yh[i];
        for (i = 0; i < NB; i++) phi[NA + i] = uh[i];

        e = ud_update(phi, y, lambda);
        memcpy(par[t], theta, sizeof theta);
        if (t >= NSAMP - NSAMP / 4) {
            mse += e * e;
            tail++;
        }
        memmove(yh + 1, yh, (NA - 1) * sizeof *yh);
        yh[0] = y;
    }
    return tail ? mse / tail : 0.0;
}
