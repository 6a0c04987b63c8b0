/* mpc_boxqp: receding horizon control of a double integrator with drag, the condensed
 * quadratic programme is solved with an accelerated projected gradient method. */
#include <math.h>

#ifndef HOR
#define HOR 10
#endif
#ifndef SIMSTEPS
#define SIMSTEPS 6
#endif
#ifndef MAXIT
#define MAXIT 25
#endif

static double H[HOR][HOR];      /* Hessian */
static double Gx[HOR][2];       /* gradient = H u + Gx (x - xref) */

static void condense(double dt, double drag, double qpos, double qvel, double rin)
{
    static double S[HOR][2][HOR];       /* effect of u_j on the state after k */
    double A[2][2] = { { 1, dt }, { 0, 1 - drag * dt } }, B[2] = { 0.5 * dt * dt, dt };
    double phi[HOR][2][2], P[2][2] = { { 1, 0 }, { 0, 1 } };

    for (int k = 0; k < HOR; k++) {
        double N[2][2];
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 2; c++)
                N[r][c] = A[r][0] * P[0][c] + A[r][1] * P[1][c];
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 2; c++) phi[k][r][c] = P[r][c] = N[r][c];
        for (int j = 0; j < HOR; j++)
            for (int r = 0; r < 2; r++) {
                if (j > k) S[k][r][j] = 0;
                else if (j == k) S[k][r][j] = B[r];
                else S[k][r][j] = A[r][0] * S[k - 1][0][j] + A[r][1] * S[k - 1][1][j];
            }
    }
    for (int i = 0; i < HOR; i++) {
        for (int j = 0; j < HOR; j++) {
            double h = i == j ? rin : 0.0;
            for (int k = i > j ? i : j; k < HOR; k++)
                h += qpos * S[k][0][i] * S[k][0][j] + qvel * S[k][1][i] * S[k][1][j];
            H[i][j] = h;
        }
        for (int c = 0; c < 2; c++) {
            Gx[i][c] = 0;
            for (int k = i; k < HOR; k++)
                Gx[i][c] += qpos * S[k][0][i] * phi[k][0][c] + qvel * S[k][1][i] * phi[k][1][c];
        }
    }
}

static int solve(const double x[2], double umax, double *u)
{
    double L = 0, y[HOR], t = 1.0;
    int it;

    for (int i = 0; i < HOR; i++) {             /* row sums bound the largest eigenvalue */
        double s = 0;
        for (int j = 0; j < HOR; j++) s += fabs(H[i][j]);
        if (s > L) L = s;
        y[i] = u[i];
    }
    for (it = 0; it < MAXIT; it++) {
        double tn = 0.5 * (1 + sqrt(1 + 4 * t * t)), move = 0, w[HOR];
        for (int i = 0; i < HOR; i++) {
            double g = Gx[i][0] * x[0] + Gx[i][1] * x[1];
            for (int j = 0; j < HOR; j++) g += H[i][j] * y[j];
            w[i] = fmin(umax, fmax(-umax, y[i] - g / L));
        }
        for (int i = 0; i < HOR; i++) {
            double d = w[i] - u[i];
            y[i] = w[i] + (t - 1) / tn * d;
            move = fmax(move, fabs(d));
            u[i] = w[i];
        }
        t = tn;
        if (move < 1e-4 * umax) break;
    }
    return it;
}

double mpc_simulate(double pos, double vel, const double *dist, double umax, double *traj, int *iters)
{
    const double dt = 0.2, drag = 0.1;
    double u[HOR] = { 0 }, cost = 0;

    condense(dt, drag, 1.0, 0.1, 0.05);
    for (int s = 0; s < SIMSTEPS; s++) {
        double x[2] = { pos, vel };
        iters[s] = solve(x, umax, u);
        pos += dt * vel + 0.5 * dt * dt * u[0];
        vel += dt * (u[0] - drag * vel) + dist[s];
        cost += pos * pos + 0.1 * vel * vel + 0.05 * u[0] * u[0];
        traj[3 * s] = pos;
        traj[3 * s + 1] = vel;
        traj[3 * s + 2] = u[0];
        for (int i = 0; i + 1 < HOR; i++) u[i] = u[i + 1];     /* warm start */
    }
    return cost;
}
