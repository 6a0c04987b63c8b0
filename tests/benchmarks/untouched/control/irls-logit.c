/* logistic regression: Newton steps (iteratively reweighted least squares)
   with a small ridge; column 0 of the design is the constant */
#include <math.h>
#include <string.h>

#ifndef ROWS
#define ROWS 60
#endif
#ifndef FEATURES
#define FEATURES 4
#endif

#define P      (FEATURES + 1)
#define MAXIT  12
#define TOL    1e-8

static int cholesky(double *a)                  /* lower triangle, in place */
{
    int i, j, k;

    for (j = 0; j < P; j++)
    {
        double s = a[j * P + j];
        for (k = 0; k < j; k++)
            s -= a[j * P + k] * a[j * P + k];
        if (s <= 1e-14)
            return 0;
        a[j * P + j] = s = sqrt(s);
        for (i = j + 1; i < P; i++)
        {
            double t = a[i * P + j];
            for (k = 0; k < j; k++)
                t -= a[i * P + k] * a[j * P + k];
            a[i * P + j] = t / s;
        }
    }
    return 1;
}

static void solve(const double *l, double *b)
{
    int i, k;

    for (i = 0; i < P; i++)
    {
        for (k = 0; k < i; k++)
            b[i] -= l[i * P + k] * b[k];
        b[i] /= l[i * P + i];
    }
    for (i = P - 1; i >= 0; i--)
    {
        for (k = i + 1; k < P; k++)
            b[i] -= l[k * P + i] * b[k];
        b[i] /= l[i * P + i];
    }
}

/* beta[P], error[P]: coefficients and their standard errors. Returns the
   number of Newton steps, negative if the system broke down. */
int irls_logit(const double *x, const int *label, double ridge, double *beta, double *error, double *loglik)
{
    double h[P * P], g[P], z[P];
    int it = 0, r, i, j;

    memset(beta, 0, P * sizeof *beta);
    memset(error, 0, P * sizeof *error);
    *loglik = 0.0;

    do
    {
        double step = 0.0;

        memset(h, 0, sizeof h);
        *loglik = 0.0;
        for (i = 0; i < P; i++)
        {
            g[i] = -ridge * beta[i];
            h[i * P + i] = ridge;
        }
        for (r = 0; r < ROWS; r++)
        {
            double eta, mu, w;

            z[0] = 1.0;
            memcpy(z + 1, x + r * FEATURES, FEATURES * sizeof *x);
            for (eta = 0.0, i = 0; i < P; i++)
                eta += beta[i] * z[i];
            if (eta > 30.0)
                eta = 30.0;
            if (eta < -30.0)
                eta = -30.0;
            mu = 1.0 / (1.0 + exp(-eta));
            w = mu * (1.0 - mu);
            *loglik += log(label[r] ? mu : 1.0 - mu);
            for (i = 0; i < P; i++)
            {
                g[i] += z[i] * ((label[r] ? 1.0 : 0.0) - mu);
                for (j = 0; j <= i; j++)
                    h[i * P + j] += w * z[i] * z[j];
            }
        }
        if (!cholesky(h))
            goto singular;
        solve(h, g);
        for (i = 0; i < P; i++)
        {
            beta[i] += g[i];
            if (fabs(g[i]) > step)
                step = fabs(g[i]);
        }
        it++;
        if (step < TOL)
            break;
    } while (it < MAXIT);

    for (i = 0; i < P; i++)                     /* diagonal of the inverse */
    {
        memset(z, 0, sizeof z);
        z[i] = 1.0;
        solve(h, z);
        error[i] = sqrt(z[i]);
    }
    return it;

singular:
    return -1 - it;
}
