#include <math.h>

#ifndef OBJECTS
#define OBJECTS 12
#endif
#ifndef EPOCHS
#define EPOCHS 8
#endif

#define TWO_PI 6.283185307179586

/* classical elements: a [km], e, i, raan, argp, M at epoch [rad] */
typedef double elements_t[6];

struct ephem {
    double r[3];
    double v[3];
    int    iterations;
};

static double wrap(double a)
{
    a = fmod(a, TWO_PI);
    return a < 0.0 ? a + TWO_PI : a;
}

static double solve_kepler(double M, double e, int *iter)
{
    double E = e < 0.8 ? M : TWO_PI / 2;
    int n = 0;
    double dE;

    do {
        double f  = E - e * sin(E) - M;
        double f1 = 1.0 - e * cos(E);
        double f2 = e * sin(E);
        dE = -f / f1;
        dE = -f / (f1 + 0.5 * dE * f2);         /* Halley */
        E += dE;
    } while (fabs(dE) > 1e-11 && ++n < 20);
    *iter = n;
    return E;
}

static void orbit_state(const elements_t el, double n, double dt, struct ephem *out)
{
    const double mu = 398600.4418;
    double a = el[0], e = el[1];
    /* secular drift of the node and the perigee by the oblateness */
    double p = a * (1.0 - e * e), ci = cos(el[2]), si = sin(el[2]);
    double k = 1.5 * 1.08263e-3 * n * (6378.137 / p) * (6378.137 / p);
    double raan = el[3] - k * ci * dt;
    double argp = el[4] + k * (2.0 - 2.5 * si * si) * dt;
    double E = solve_kepler(wrap(el[5] + n * dt), e, &out->iterations);
    double cE = cos(E), sE = sin(E), b = sqrt(1.0 - e * e);
    double x = a * (cE - e), y = a * b * sE;
    double rate = sqrt(mu / a) / (1.0 - e * cE);
    double vx = -rate * sE, vy = rate * b * cE;
    double co = cos(raan), so = sin(raan), cw = cos(argp), sw = sin(argp);
    double P[3] = { co * cw - so * sw * ci, so * cw + co * sw * ci, sw * si };
    double Q[3] = { -co * sw - so * cw * ci, -so * sw + co * cw * ci, cw * si };

    for (int j = 0; j < 3; j++) {
        out->r[j] = P[j] * x + Q[j] * y;
        out->v[j] = P[j] * vx + Q[j] * vy;
    }
}

/* Positions of all objects at all epochs; returns the closest approach of any
   two objects at a common epoch; the pair and the epoch are noted. */
double conjunction_scan(const double (*unit)[6], double step, struct ephem eph[EPOCHS][OBJECTS], int pair[3])
{
    static elements_t el[OBJECTS];
    double best = 1e300;

    /* catalogue numbers lie in [0, 1): spread them over low orbits */
    for (int o = 0; o < OBJECTS; o++) {
        el[o][0] = 7000.0 + 1500.0 * unit[o][0];
        el[o][1] = 0.09 * unit[o][1];
        el[o][2] = 1.8 * unit[o][2];
        for (int k = 3; k < 6; k++)
            el[o][k] = TWO_PI * unit[o][k];
    }
    pair[0] = pair[1] = pair[2] = -1;
    for (int t = 0; t < EPOCHS; t++) {
        for (int o = 0; o < OBJECTS; o++) {
            double n = sqrt(398600.4418 / (7000.0 * 7000.0 * 7000.0)) * pow(7000.0 / el[o][0], 1.5);
            orbit_state(el[o], n, t * step, &eph[t][o]);
        }
        for (int i = 0; i < OBJECTS; i++)
            for (int j = 0; j < i; j++) {
                double d = 0.0;
                for (int q = 0; q < 3; q++) {
                    double w = eph[t][i].r[q] - eph[t][j].r[q];
                    d += w * w;
                }
                if (d < best) {
                    best = d;
                    pair[0] = j; pair[1] = i; pair[2] = t;
                }
            }
    }
    return sqrt(best);
}
