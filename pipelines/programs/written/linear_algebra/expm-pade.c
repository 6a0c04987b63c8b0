#include <math.h>
#include <string.h>

#ifndef DIM
#define DIM 10
#endif

/* exp(t*A), scaling and squaring with the [6/6] Pade approximant. Returns number of squarings,
 * negative if the denominator turns out singular. Used for the discretisation of state space models. */

typedef double Mat[DIM][DIM];

static void matmul(Mat c, Mat a, Mat b)
{
    Mat t;
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++) {
            double s = 0;
            for (int k = 0; k < DIM; k++) s += a[i][k] * b[k][j];
            t[i][j] = s;
        }
    memcpy(c, t, sizeof t);
}

/* D X = Nn, X overwrites Nn */
static int solve(Mat d, Mat nn)
{
    for (int k = 0; k < DIM; k++) {
        int p = k;
        for (int i = k + 1; i < DIM; i++)
            if (fabs(d[i][k]) > fabs(d[p][k])) p = i;
        if (fabs(d[p][k]) < 1e-12) return -1;
        if (p != k)
            for (int j = 0; j < DIM; j++) {
                double t = d[k][j]; d[k][j] = d[p][j]; d[p][j] = t;
                t = nn[k][j]; nn[k][j] = nn[p][j]; nn[p][j] = t;
            }
        for (int i = k + 1; i < DIM; i++) {
            double f = d[i][k] / d[k][k];
            for (int j = k; j < DIM; j++) d[i][j] -= f * d[k][j];
            for (int j = 0; j < DIM; j++) nn[i][j] -= f * nn[k][j];
        }
    }
    for (int j = 0; j < DIM; j++)
        for (int i = DIM - 1; i >= 0; i--) {
            double s = nn[i][j];
            for (int k = i + 1; k < DIM; k++) s -= d[i][k] * nn[k][j];
            nn[i][j] = s / d[i][i];
        }
    return 0;
}

int c2d_expm(Mat a, double t, Mat x)
{
    Mat s, pw, den;
    double norm = 0.0, c = 1.0;
    int sq = 0;

    for (int i = 0; i < DIM; i++) {
        double r = 0.0;
        for (int j = 0; j < DIM; j++) r += fabs(a[i][j] * t);
        if (r > norm) norm = r;
    }
    while (norm > 0.5) { norm *= 0.5; t *= 0.5; sq++; }

    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++) {
            s[i][j] = a[i][j] * t;
            pw[i][j] = x[i][j] = den[i][j] = i == j;
        }

    for (int k = 1; k <= 6; k++) {
        c = c * (6 - k + 1) / (k * (12 - k + 1));
        matmul(pw, s, pw);
        double cd = k & 1 ? -c : c;
        for (int i = 0; i < DIM; i++)
            for (int j = 0; j < DIM; j++) {
                x[i][j] += c * pw[i][j];
                den[i][j] += cd * pw[i][j];
            }
    }
    if (solve(den, x) < 0)
        return -1;
    for (int i = 0; i < sq; i++)
        matmul(x, x, x);
    return sq;
}
