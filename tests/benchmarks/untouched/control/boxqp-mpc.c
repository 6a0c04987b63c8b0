/*
 * Model predictive control of a cart (double integrator): the accelerations of
 * the next HORIZON steps, each within +-u_max, that follow a reference best.
 * Condensed quadratic program, accelerated projected gradient with restart.
 */
#include <math.h>

#ifndef HORIZON
#define HORIZON 12
#endif
#ifndef MAX_ITER
#define MAX_ITER 40
#endif

static double hess[HORIZON][HORIZON];
static double effect[HORIZON][HORIZON];   /* of u[j] on the position after step k */

static double clip(double v, double bound) { return fmin(fmax(v, -bound), bound); }

int boxqp_mpc(double pos, double vel, const double ref[HORIZON], double u_max, double dt,
              double weight, double u[HORIZON], double plan[HORIZON])
{
    double lin[HORIZON], y[HORIZON], lipschitz = 0.0, t = 1.0;
    int iter, k, i, j;

    for (k = 0; k < HORIZON; k++)
        for (j = 0; j < HORIZON; j++)
            effect[k][j] = j <= k ? (k - j + 0.5) * dt * dt : 0.0;

    for (i = 0; i < HORIZON; i++) {
        lin[i] = 0.0;
        for (k = i; k < HORIZON; k++)
            lin[i] += effect[k][i] * (pos + (k + 1) * dt * vel - ref[k]);
        for (j = 0; j <= i; j++) {
            double s = i == j ? weight : 0.0;
            for (k = i; k < HORIZON; k++)
                s += effect[k][i] * effect[k][j];
            hess[i][j] = hess[j][i] = s;
        }
    }
    for (i = 0; i < HORIZON; i++) {       /* bound of the largest eigenvalue */
        double row = 0.0;
        for (j = 0; j < HORIZON; j++)
            row += fabs(hess[i][j]);
        lipschitz = fmax(lipschitz, row);
        u[i] = y[i] = 0.0;
    }

    for (iter = 0; iter < MAX_ITER; iter++) {
        double next[HORIZON], moved = 0.0, uphill = 0.0;

        for (i = 0; i < HORIZON; i++) {
            double grad = lin[i];
            for (j = 0; j < HORIZON; j++)
                grad += hess[i][j] * y[j];
            next[i] = clip(y[i] - grad / lipschitz, u_max);
            moved = fmax(moved, fabs(next[i] - u[i]));
            uphill += (y[i] - next[i]) * (next[i] - u[i]);
        }
        double t_next = uphill > 0.0 ? 1.0 : (1.0 + sqrt(1.0 + 4.0 * t * t)) / 2.0;
        double momentum = uphill > 0.0 ? 0.0 : (t - 1.0) / t_next;
        for (i = 0; i < HORIZON; i++) {
            y[i] = next[i] + momentum * (next[i] - u[i]);
            u[i] = next[i];
        }
        t = t_next;
        if (moved < 1e-5 * u_max)
            break;
    }

    for (k = 0; k < HORIZON; k++) {
        plan[k] = pos + (k + 1) * dt * vel;
        for (j = 0; j <= k; j++)
            plan[k] += effect[k][j] * u[j];
    }
    return iter;
}
