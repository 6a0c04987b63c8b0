#include <stdlib.h>
#ifndef NPTS
#define NPTS 40
#endif
#define NPAIR (NPTS * (NPTS - 1) / 2)

/* Robust line through points: median of all pairwise slopes by quick-select,
 * intercept as the median of the residuals, scale by MAD. */

static float slopes[NPAIR];

static void swapf(float *a, float *b) { float t = *a; *a = *b; *b = t; }

static float select_kth(float *v, int n, int k)
{
    int lo = 0, hi = n - 1;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2, i = lo, j = hi;
        float pivot;

        /* median of three ends up in v[mid] */
        if (v[mid] < v[lo]) swapf(&v[mid], &v[lo]);
        if (v[hi] < v[lo]) swapf(&v[hi], &v[lo]);
        if (v[hi] < v[mid]) swapf(&v[hi], &v[mid]);
        pivot = v[mid];
        do {
            while (v[i] < pivot) i++;
            while (pivot < v[j]) j--;
            if (i <= j) {
                swapf(&v[i], &v[j]);
                i++;
                j--;
            }
        } while (i <= j);
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else break;
    }
    return v[k];
}

static float median(float *v, int n)
{
    float a = select_kth(v, n, n / 2), b;
    if (n & 1) return a;
    /* lower half is left of n/2 by now: its maximum */
    b = v[0];
    for (int i = 1; i < n / 2; i++)
        if (v[i] > b) b = v[i];
    return 0.5f * (a + b);
}

int robust_line(const float *x, const float *y, float *slope, float *intercept, float *scale, unsigned char *outlier)
{
    float r[NPTS], s;
    int n = 0, i, j, out = 0;

    for (i = 0; i < NPTS; i++)
        for (j = 0; j < i; j++) {
            float dx = x[i] - x[j];
            if (dx > -1e-4f && dx < 1e-4f) continue;
            slopes[n++] = (y[i] - y[j]) / dx;
        }
    if (n == 0) {
        *slope = *intercept = *scale = 0.0f;
        return -1;
    }
    *slope = s = median(slopes, n);
    for (i = 0; i < NPTS; i++) r[i] = y[i] - s * x[i];
    *intercept = median(r, NPTS);
    for (i = 0; i < NPTS; i++) {
        float e = y[i] - s * x[i] - *intercept;
        r[i] = e < 0 ? -e : e;
    }
    *scale = 1.4826f * median(r, NPTS);
    for (i = 0; i < NPTS; i++) {
        float e = y[i] - s * x[i] - *intercept;
        outlier[i] = e > 1.5f * *scale || e < -1.5f * *scale;
        out += outlier[i];
    }
    return out;
}
