#include <stddef.h>
#ifndef INLEN
#define INLEN 160
#endif
#ifndef OUTMAX
#define OUTMAX 256
#endif

/* Cubic Lagrange interpolator in Farrow form. Arbitrary, slowly drifting rate.
   Stops at whichever end comes first. Returns the number of output samples. */
size_t src_farrow(const double *restrict x, double *restrict y, double step, double drift)
{
    double mu = 0.0;
    size_t base = 1, n = 0;

    while (n < OUTMAX) {
        while (mu >= 1.0) { mu -= 1.0; ++base; }
        if (base + 2 >= INLEN) break;

        const double xm1 = x[base - 1], x0 = x[base], x1 = x[base + 1], x2 = x[base + 2];
        const double c0 = x0;
        const double c1 = x1 - xm1 / 3.0 - x0 / 2.0 - x2 / 6.0;
        const double c2 = (xm1 + x1) / 2.0 - x0;
        const double c3 = (x2 - xm1) / 6.0 + (x0 - x1) / 2.0;
        y[n++] = ((c3 * mu + c2) * mu + c1) * mu + c0;

        mu += step;
        step += drift;
        if (step < 0.25) step = 0.25;
        if (step > 4.0) step = 4.0;
    }
    for (size_t k = n; k < OUTMAX; ++k) y[k] = 0.0;
    return n;
}
