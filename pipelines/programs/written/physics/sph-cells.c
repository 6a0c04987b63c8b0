#include <string.h>

#ifndef NPART
#define NPART 128
#endif
#ifndef GRID
#define GRID 8
#endif

/* SPH density and pressure force in the unit square. Particles are binned with a
 * counting sort, the kernel radius is one cell. */

#define SQ(a) ((a) * (a))

static int cell_of(float x, float y)
{
    int cx = (int)(x * GRID), cy = (int)(y * GRID);
    if (cx < 0) cx = 0;
    if (cy < 0) cy = 0;
    if (cx >= GRID) cx = GRID - 1;
    if (cy >= GRID) cy = GRID - 1;
    return cy * GRID + cx;
}

static int cell_start[GRID * GRID + 1];
static int sorted_id[NPART];

static void bin_particles(const float *x, const float *y)
{
    int cursor[GRID * GRID];
    memset(cell_start, 0, sizeof cell_start);
    for (int i = 0; i < NPART; i++) cell_start[cell_of(x[i], y[i]) + 1]++;
    for (int c = 0; c < GRID * GRID; c++) {
        cell_start[c + 1] += cell_start[c];
        cursor[c] = cell_start[c];
    }
    for (int i = 0; i < NPART; i++) sorted_id[cursor[cell_of(x[i], y[i])]++] = i;
}

void sph_density_force(const float x[NPART], const float y[NPART], float rho0, float stiffness,
                       float rho[NPART], float fx[NPART], float fy[NPART])
{
    const float h = 1.0f / GRID, h2 = h * h;
    const float poly = 4.0f / (3.14159265f * h2 * h2 * h2 * h2);

    bin_particles(x, y);

    for (int phase = 0; phase < 2; phase++) {
        for (int i = 0; i < NPART; i++) {
            int c = cell_of(x[i], y[i]);
            int cx = c % GRID, cy = c / GRID;
            float acc = 0.f, ax = 0.f, ay = 0.f;

            for (int dy = -1; dy <= 1; dy++) {
                if (cy + dy < 0 || cy + dy >= GRID) continue;
                for (int dx = -1; dx <= 1; dx++) {
                    if (cx + dx < 0 || cx + dx >= GRID) continue;
                    int n = (cy + dy) * GRID + cx + dx;
                    for (int k = cell_start[n]; k < cell_start[n + 1]; k++) {
                        int j = sorted_id[k];
                        float rx = x[i] - x[j], ry = y[i] - y[j];
                        float q = h2 - (SQ(rx) + SQ(ry));
                        if (q <= 0.f) continue;
                        if (phase == 0)
                            acc += poly * q * q * q;
                        else if (j != i) {
                            float pi = stiffness * (rho[i] - rho0), pj = stiffness * (rho[j] - rho0);
                            float w = 6.f * poly * q * q * (pi / SQ(rho[i]) + pj / SQ(rho[j]));
                            ax += w * rx;
                            ay += w * ry;
                        }
                    }
                }
            }
            if (phase == 0) rho[i] = acc / NPART;
            else { fx[i] = ax / NPART; fy[i] = ay / NPART; }
        }
    }
}
