// Kalman filter for a target in the plane, constant velocity model.
// Measurements may be missing or be refused by the gate.

#ifndef SCANS
#define SCANS 24
#endif

#define FOR(i, n) for (int i = 0; i < (n); ++i)

typedef double mat4[4][4];

enum { OK = 0, MISSING = 1, REFUSED = 2 };

static void product(mat4 r, mat4 a, mat4 b)
{
    FOR (i, 4) FOR (j, 4) {
        double s = 0.0;
        FOR (k, 4) s += a[i][k] * b[k][j];
        r[i][j] = s;
    }
}

static void transpose(mat4 r, mat4 a)
{
    FOR (i, 4) FOR (j, 4) r[i][j] = a[j][i];
}

// x, y, vx, vy -> one step further, covariance likewise
static void predict(double x[4], mat4 p, double dt, double accel_var)
{
    mat4 f = { {1, 0, dt, 0}, {0, 1, 0, dt}, {0, 0, 1, 0}, {0, 0, 0, 1} };
    mat4 ft, fp;
    const double q11 = accel_var * dt * dt * dt * dt / 4;
    const double q12 = accel_var * dt * dt * dt / 2;
    const double q22 = accel_var * dt * dt;

    x[0] += dt * x[2];
    x[1] += dt * x[3];
    transpose(ft, f);
    product(fp, f, p);
    product(p, fp, ft);
    FOR (a, 2) {
        p[a][a] += q11;
        p[a][a + 2] += q12;
        p[a + 2][a] += q12;
        p[a + 2][a + 2] += q22;
    }
}

static int correct(double x[4], mat4 p, double zx, double zy, double meas_var, double gate)
{
    double s00 = p[0][0] + meas_var, s11 = p[1][1] + meas_var, s01 = (p[0][1] + p[1][0]) / 2;
    double det = s00 * s11 - s01 * s01;
    double ex = zx - x[0], ey = zy - x[1];
    double k[4][2];
    mat4 old;

    if (det <= 1e-12)
        return REFUSED;
    if ((s11 * ex * ex - 2 * s01 * ex * ey + s00 * ey * ey) / det > gate)
        return REFUSED;

    FOR (i, 4) {
        k[i][0] = (p[i][0] * s11 - p[i][1] * s01) / det;
        k[i][1] = (p[i][1] * s00 - p[i][0] * s01) / det;
        x[i] += k[i][0] * ex + k[i][1] * ey;
    }
    FOR (i, 4) FOR (j, 4) old[i][j] = p[i][j];
    FOR (i, 4) FOR (j, 4) p[i][j] = old[i][j] - k[i][0] * old[0][j] - k[i][1] * old[1][j];
    FOR (i, 4) for (int j = 0; j < i; ++j)              // keep it symmetric
        p[i][j] = p[j][i] = (p[i][j] + p[j][i]) / 2;
    return OK;
}

// valid[k] == 0 means: no measurement in scan k. Returns the number of scans used.
int kalman_track(const double z[SCANS][2], const unsigned char valid[SCANS], double dt,
                 double track[SCANS][4], unsigned char verdict[SCANS], double spread[SCANS])
{
    double x[4] = { z[0][0], z[0][1], 0.0, 0.0 };
    mat4 p = { {4, 0, 0, 0}, {0, 4, 0, 0}, {0, 0, 9, 0}, {0, 0, 0, 9} };
    int used = 0, lost = 0;

    FOR (k, SCANS) {
        predict(x, p, dt, 0.5);
        verdict[k] = MISSING;
        if (valid[k])
            verdict[k] = (unsigned char)correct(x, p, z[k][0], z[k][1], 1.0, 9.21);
        if (verdict[k] == OK) {
            ++used;
            lost = 0;
        } else if (++lost == 3) {
            FOR (i, 4) p[i][i] += 4.0;                  // forget, or it never comes back
            lost = 0;
        }
        FOR (i, 4) track[k][i] = x[i];
        spread[k] = p[0][0] * p[1][1] - p[0][1] * p[1][0];
    }
    return used;
}
