#include <math.h>
#ifndef NH
#define NH 10
#endif
#ifndef MAXIT
#define MAXIT 60
#endif

/* Real eigenvalue problem: Householder reduction to Hessenberg form, then Francis' double
   shift steps with deflation of 1x1 and 2x2 blocks. */

struct eig { double re, im; };

static double h[NH][NH];

static void to_hessenberg(void)
{
    double v[NH];
    for (int k = 0; k < NH - 2; k++) {
        double alpha = 0;
        for (int i = k + 1; i < NH; i++) alpha += h[i][k] * h[i][k];
        alpha = sqrt(alpha);
        if (alpha == 0) continue;
        if (h[k + 1][k] > 0) alpha = -alpha;
        double vtv = 0;
        for (int i = k + 1; i < NH; i++) {
            v[i] = h[i][k] - (i == k + 1 ? alpha : 0);
            vtv += v[i] * v[i];
        }
        for (int j = k; j < NH; j++) {
            double t = 0;
            for (int i = k + 1; i < NH; i++) t += v[i] * h[i][j];
            t *= 2 / vtv;
            for (int i = k + 1; i < NH; i++) h[i][j] -= t * v[i];
        }
        for (int i = 0; i < NH; i++) {
            double t = 0;
            for (int j = k + 1; j < NH; j++) t += h[i][j] * v[j];
            t *= 2 / vtv;
            for (int j = k + 1; j < NH; j++) h[i][j] -= t * v[j];
        }
    }
}

/* reflector on rows and columns at .. at + n - 1, from the vector v, n = 2 or 3 */
static void bulge(int lo, int hi, int at, const double *v, int n)
{
    double u[3], len = 0, uu = 0;
    for (int i = 0; i < n; i++) len += v[i] * v[i];
    len = sqrt(len);
    if (len == 0) return;
    for (int i = 0; i < n; i++) u[i] = v[i];
    u[0] += v[0] < 0 ? -len : len;
    for (int i = 0; i < n; i++) uu += u[i] * u[i];

    for (int j = at > lo ? at - 1 : lo; j <= hi; j++) {
        double t = 0;
        for (int i = 0; i < n; i++) t += u[i] * h[at + i][j];
        t *= 2 / uu;
        for (int i = 0; i < n; i++) h[at + i][j] -= t * u[i];
    }
    int last = at + 3 < hi ? at + 3 : hi;
    for (int i = lo; i <= last; i++) {
        double t = 0;
        for (int j = 0; j < n; j++) t += h[i][at + j] * u[j];
        t *= 2 / uu;
        for (int j = 0; j < n; j++) h[i][at + j] -= t * u[j];
    }
}

/* implicit double shift with sum and product of the shifts; hi - lo >= 2 */
static void francis(int lo, int hi, double sum, double prod)
{
    double v[3];
    v[0] = h[lo][lo] * (h[lo][lo] - sum) + h[lo][lo + 1] * h[lo + 1][lo] + prod;
    v[1] = h[lo + 1][lo] * (h[lo][lo] + h[lo + 1][lo + 1] - sum);
    v[2] = h[lo + 1][lo] * h[lo + 2][lo + 1];
    for (int k = lo; k <= hi - 2; k++) {
        bulge(lo, hi, k, v, 3);
        if (k > lo) h[k + 1][k - 1] = h[k + 2][k - 1] = 0;
        v[0] = h[k + 1][k];
        v[1] = h[k + 2][k];
        v[2] = k < hi - 2 ? h[k + 3][k] : 0;
    }
    bulge(lo, hi, hi - 1, v, 2);
    h[hi][hi - 2] = 0;
}

/* returns QR steps, or -(eigenvalues missing) */
int eig_hqr(const double a[NH * NH], struct eig ev[NH])
{
    int hi = NH - 1, steps = 0, stuck = 0;

    for (int i = 0; i < NH * NH; i++) h[i / NH][i % NH] = a[i];
    to_hessenberg();

    while (hi >= 0) {
        int lo = hi;
        while (lo > 0 && fabs(h[lo][lo - 1]) > 1e-12 * (fabs(h[lo][lo]) + fabs(h[lo - 1][lo - 1])))
            lo--;
        if (lo == hi) {
            ev[hi] = (struct eig){ h[hi][hi], 0 };
            hi--;
            stuck = 0;
            continue;
        }
        double p = h[hi - 1][hi - 1], q = h[hi - 1][hi], r = h[hi][hi - 1], t = h[hi][hi];
        double half = (p + t) / 2, disc = (p - t) * (p - t) / 4 + q * r;
        if (lo == hi - 1) {
            double root = sqrt(fabs(disc));
            ev[hi] = disc < 0 ? (struct eig){ half, -root } : (struct eig){ half - root, 0 };
            ev[hi - 1] = disc < 0 ? (struct eig){ half, root } : (struct eig){ half + root, 0 };
            hi -= 2;
            stuck = 0;
            continue;
        }
        if (++stuck > MAXIT) goto fail;
        if (stuck % 10 == 0) {                         /* exceptional */
            double x = fabs(r) + fabs(h[hi - 1][hi - 2]);
            francis(lo, hi, 1.5 * x, x * x);
        } else
            francis(lo, hi, p + t, p * t - q * r);
        steps++;
    }
    return steps;

fail:
    for (int i = 0; i <= hi; i++) ev[i] = (struct eig){ h[i][i], 0 };
    return -(hi + 1);
}
