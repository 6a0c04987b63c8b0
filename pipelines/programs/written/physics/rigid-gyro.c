#include <math.h>
#include <string.h>

#ifndef NSAT
#define NSAT 3
#endif
#ifndef STEPS
#define STEPS 20
#endif

/* Attitude propagation of small satellites: Euler's equations and quaternion
   kinematics, classical Runge-Kutta, gravity-gradient like torque. */

enum { QW, QX, QY, QZ, WX, WY, WZ, NSTATE };

static void derivative(const double s[NSTATE], const double inertia[3], const double b[3], double out[NSTATE])
{
    /* nadir vector in the body frame */
    double n0 = 2.0 * (s[QX] * s[QZ] - s[QW] * s[QY]);
    double n1 = 2.0 * (s[QY] * s[QZ] + s[QW] * s[QX]);
    double n2 = 1.0 - 2.0 * (s[QX] * s[QX] + s[QY] * s[QY]);
    double t[3];

    t[0] = 3e-2 * (inertia[2] - inertia[1]) * n1 * n2 + b[0];
    t[1] = 3e-2 * (inertia[0] - inertia[2]) * n2 * n0 + b[1];
    t[2] = 3e-2 * (inertia[1] - inertia[0]) * n0 * n1 + b[2];

    out[QW] = 0.5 * (-s[QX] * s[WX] - s[QY] * s[WY] - s[QZ] * s[WZ]);
    out[QX] = 0.5 * ( s[QW] * s[WX] + s[QY] * s[WZ] - s[QZ] * s[WY]);
    out[QY] = 0.5 * ( s[QW] * s[WY] - s[QX] * s[WZ] + s[QZ] * s[WX]);
    out[QZ] = 0.5 * ( s[QW] * s[WZ] + s[QX] * s[WY] - s[QY] * s[WX]);
    out[WX] = (t[0] - (inertia[2] - inertia[1]) * s[WY] * s[WZ]) / inertia[0];
    out[WY] = (t[1] - (inertia[0] - inertia[2]) * s[WZ] * s[WX]) / inertia[1];
    out[WZ] = (t[2] - (inertia[1] - inertia[0]) * s[WX] * s[WY]) / inertia[2];
}

static void axpy(double *r, const double *x, double h, const double *k)
{
    for (int i = 0; i < NSTATE; i++)
        r[i] = x[i] + h * k[i];
}

/* returns worst deviation of |q| from 1 met before renormalisation */
double att_propagate(double state[NSAT][NSTATE], const double inertia[NSAT][3], const double bias[NSAT][3], double h)
{
    double k[4][NSTATE], tmp[NSTATE], worst = 0.0;

    for (int sat = 0; sat < NSAT; sat++) {
        double *s = state[sat];
        for (int step = 0; step < STEPS; step++) {
            double norm;
            derivative(s, inertia[sat], bias[sat], k[0]);
            axpy(tmp, s, 0.5 * h, k[0]);
            derivative(tmp, inertia[sat], bias[sat], k[1]);
            axpy(tmp, s, 0.5 * h, k[1]);
            derivative(tmp, inertia[sat], bias[sat], k[2]);
            axpy(tmp, s, h, k[2]);
            derivative(tmp, inertia[sat], bias[sat], k[3]);
            for (int i = 0; i < NSTATE; i++)
                s[i] += h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);

            norm = sqrt(s[QW] * s[QW] + s[QX] * s[QX] + s[QY] * s[QY] + s[QZ] * s[QZ]);
            if (norm < 1e-6) {              /* degenerate start: identity */
                s[QW] = 1.0;
                memset(s + QX, 0, 3 * sizeof *s);
                continue;
            }
            if (step > 0 && fabs(norm - 1.0) > worst)
                worst = fabs(norm - 1.0);
            for (int i = QW; i <= QZ; i++)
                s[i] /= norm;
        }
    }
    return worst;
}
