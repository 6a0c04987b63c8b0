#include <stdint.h>
#ifndef LX
#define LX 16
#endif
#ifndef LY
#define LY 10
#endif
#ifndef ITER
#define ITER 3
#endif
#define Q 9
#define AT(x, y) ((size_t)(y) * LX + (x))
#include <stddef.h>

static const int CX[Q] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 };
static const int CY[Q] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
static const int OPP[Q] = { 0, 3, 4, 1, 2, 7, 8, 5, 6 };
static const double WT[Q] = { 4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36 };

static double fa[LX * LY][Q], fb[LX * LY][Q];

/* Lattice Boltzmann channel, periodic in x, walls at y = 0 and LY - 1, cells with
   solid > 7 (marks of the mask run from 0 to 9) bounce back as well. Body force drives to the right.
   ux, uy: final velocities. Returns momentum handed to the solid cells, in x. */
double lbm_channel(const uint8_t *solid, double tau, double force, const double *rho0,
                   double *ux, double *uy)
{
    double (*src)[Q] = fa, (*dst)[Q] = fb;
    double drag = 0.0;

    for (size_t c = 0; c < LX * LY; c++)
        for (int q = 0; q < Q; q++)
            src[c][q] = WT[q] * rho0[c];

    for (int it = 0; it < ITER; it++) {
        for (int y = 0; y < LY; y++)
            for (int x = 0; x < LX; x++) {
                size_t c = AT(x, y);
                double f[Q], rho = 0, vx = 0, vy = 0, usq;

                if (y == 0 || y == LY - 1 || solid[c] > 7)
                    continue;
                for (int q = 0; q < Q; q++) {               /* pull, with bounce back */
                    int sx = (x - CX[q] + LX) % LX, sy = y - CY[q];
                    size_t s = AT(sx, sy);
                    if (sy == 0 || sy == LY - 1 || solid[s] > 7) {
                        f[q] = src[c][OPP[q]];
                        if (it == ITER - 1)
                            drag -= 2.0 * f[q] * CX[q];
                    } else
                        f[q] = src[s][q];
                    rho += f[q];
                    vx += f[q] * CX[q];
                    vy += f[q] * CY[q];
                }
                vx = vx / rho + 0.5 * force;
                vy /= rho;
                usq = 1.5 * (vx * vx + vy * vy);
                for (int q = 0; q < Q; q++) {
                    double cu = 3.0 * (CX[q] * vx + CY[q] * vy);
                    double eq = WT[q] * rho * (1.0 + cu + 0.5 * cu * cu - usq);
                    dst[c][q] = f[q] + (eq - f[q]) / tau + 3.0 * WT[q] * CX[q] * force;
                }
                ux[c] = vx;
                uy[c] = vy;
            }
        double (*t)[Q] = src;
        src = dst;
        dst = t;
    }
    return drag;
}
