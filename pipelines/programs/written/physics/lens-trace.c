#include <math.h>

#ifndef SURFACES
#define SURFACES 6
#endif
#ifndef FAN
#define FAN 21
#endif
#ifndef COLOURS
#define COLOURS 3
#endif

/* Meridional fan of rays through a stack of spherical surfaces.
   vignetting and total reflection end a ray. */

typedef struct {
    double curvature;       /* 1/R */
    double thickness;       /* to the next vertex */
    double n[COLOURS];      /* index behind the surface */
    double aperture;
} surface_t;

enum ray_end { RAY_OK, RAY_MISSED, RAY_CLIPPED, RAY_REFLECTED };

static surface_t lens[SURFACES];

static enum ray_end trace(double y, double dy, int colour, double *yout, double *slope)
{
    double z = 0.0, n0 = 1.0;
    double L = cos(dy), M = sin(dy);

    for (int s = 0; s < SURFACES; s++) {
        const surface_t *sf = &lens[s];
        double c = sf->curvature;
        /* quadratic for the path length t: vertex at the origin */
        double F = c * (y * y + z * z) - 2.0 * z;
        double G = L - c * (L * z + M * y);
        double disc = G * G - c * F;
        double t, cosi, cosr, mu, k, sin2;

        if (disc < 0.0 || (fabs(G) < 1e-9 && disc < 1e-18))
            return RAY_MISSED;
        t = F / (G + sqrt(disc));
        y += t * M;
        z += t * L;
        if (fabs(y) > sf->aperture)
            return RAY_CLIPPED;
        cosi = sqrt(disc);
        mu = n0 / sf->n[colour];
        sin2 = mu * mu * (1.0 - cosi * cosi);
        if (sin2 > 1.0)
            return RAY_REFLECTED;
        cosr = sqrt(1.0 - sin2);
        k = cosr - mu * cosi;
        L = mu * L + k * (1.0 - c * z);
        M = mu * M - k * c * y;
        n0 = sf->n[colour];
        z -= sf->thickness;
    }
    if (L < 0.05)
        return RAY_MISSED;
    *slope = M / L;
    *yout = y - z * *slope;             /* in the plane of the last vertex + thickness */
    return RAY_OK;
}

/* curv, thick: one per surface; index: glass at even surfaces, air behind odd ones.
   height [COLOURS][FAN] in the image plane; returns how many rays arrive. */
int lens_fan(const double *curv, const double *thick, const double *index, double field,
             double pupil, double height[COLOURS][FAN], int why[4], double *rms)
{
    int arrived = 0;
    double sum = 0.0, sum2 = 0.0;

    for (int s = 0; s < SURFACES; s++) {
        lens[s].curvature = curv[s];
        lens[s].thickness = thick[s];
        lens[s].aperture = 1.6 * pupil;
        for (int k = 0; k < COLOURS; k++)
            lens[s].n[k] = s % 2 ? 1.0 : index[s / 2] + 0.008 * k;
    }
    for (int k = 0; k < 4; k++)
        why[k] = 0;
    for (int k = 0; k < COLOURS; k++)
        for (int r = 0; r < FAN; r++) {
            double y0 = pupil * (2.0 * r / (FAN - 1) - 1.0), y = 0.0, m = 0.0;
            enum ray_end e = trace(y0, field, k, &y, &m);
            why[e]++;
            height[k][r] = e == RAY_OK ? y : 0.0;
            if (e != RAY_OK)
                continue;
            arrived++;
            sum += y;
            sum2 += y * y;
        }
    *rms = arrived ? sqrt(fmax(0.0, sum2 / arrived - (sum / arrived) * (sum / arrived))) : -1.0;
    return arrived;
}
