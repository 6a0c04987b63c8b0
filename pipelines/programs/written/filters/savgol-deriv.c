#include <stdint.h>

#ifndef NPTS
#define NPTS 200
#endif

/* Savitzky-Golay, quadratic, width chosen per sample from the local noise:
 * 5, 7 or 9 points. First derivative and smoothed value; integer, scaled by the norm.
 * The derivative's zero crossings from + to - with enough height are peaks. */

static const int8_t sm5[] = {-3, 12, 17, 12, -3};
static const int8_t sm7[] = {-2, 3, 6, 7, 6, 3, -2};
static const int8_t sm9[] = {-21, 14, 39, 54, 59, 54, 39, 14, -21};

static const struct sg {
    const int8_t *smooth;
    int half, nsmooth, nderiv;
} SG[3] = {
    { sm5, 2, 35, 10 },
    { sm7, 3, 21, 28 },
    { sm9, 4, 231, 60 },
};

int sg_peaks(const uint16_t *trace, int *smooth, int *deriv, int *peaks, int min_height)
{
    int npk = 0;

    for (int i = 0; i < NPTS; i++) {
        if (i < 4 || i >= NPTS - 4) {
            smooth[i] = trace[i];
            deriv[i] = 0;
            continue;
        }
        /* second difference as a noise estimate */
        int d2 = trace[i - 1] - 2 * trace[i] + trace[i + 1];
        if (d2 < 0) d2 = -d2;
        const struct sg *f = &SG[d2 > 3000 ? 2 : d2 > 800 ? 1 : 0];

        long s = 0, d = 0;
        for (int k = -f->half; k <= f->half; k++) {
            s += (long)f->smooth[k + f->half] * trace[i + k];
            d += (long)k * trace[i + k];
        }
        smooth[i] = (int)(s / f->nsmooth);
        deriv[i] = (int)(d * 16 / f->nderiv);
    }

    for (int i = 0; i < NPTS; i++) peaks[i] = -1;
    for (int i = 5; i < NPTS - 5; i++)
        if (deriv[i - 1] > 0 && deriv[i] <= 0 && smooth[i] >= min_height)
            peaks[npk++] = deriv[i - 1] > -deriv[i] ? i : i - 1;
    return npk;
}

int main(void)
{
    static uint16_t t[NPTS];
    static int s[NPTS], d[NPTS], p[NPTS];
    for (int i = 0; i < NPTS; i++) t[i] = (uint16_t)(2000 + (i % 40 < 20 ? i % 40 : 40 - i % 40) * 50);
    return sg_peaks(t, s, d, p, 2200) == 0;
}
