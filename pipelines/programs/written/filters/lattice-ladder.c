/*
 * Normalised lattice-ladder IIR section, order NLAT.
 * k[]  reflection coefficients, |k| < 1 (we clamp, see below)
 * v[]  ladder taps
 */
#include <stddef.h>

#ifndef NLAT
#define NLAT 8
#endif
#ifndef NSAMP
#define NSAMP 96
#endif

typedef float sample_t;

static sample_t clampk(sample_t k)
{
    const sample_t lim = 0.96f;
    if (k > lim) return lim;
    if (k < -lim) return -lim;
    return k;
}

void lattice_run(const sample_t *in, const sample_t k[NLAT], const sample_t v[NLAT + 1],
                 sample_t *out)
{
    sample_t g[NLAT + 1] = {0};
    sample_t kc[NLAT];
    for (size_t m = 0; m < NLAT; ++m)
        kc[m] = clampk(k[m]);

    const sample_t *const end = in + NSAMP;
    while (in != end) {
        sample_t f = *in++;
        sample_t acc = 0.0f;
        for (int m = NLAT - 1; m >= 0; --m) {
            f -= kc[m] * g[m];
            g[m + 1] = g[m] + kc[m] * f;   /* backward error moves up a stage */
            acc += v[m + 1] * g[m + 1];
        }
        g[0] = f;
        acc += v[0] * f;
        *out++ = acc;
    }
}
