/* constant velocity tracker, scalar measurements with gating; track management by a
   little state machine: TENTATIVE -> CONFIRMED -> COASTING -> LOST */
#ifndef STEPS
#define STEPS 80
#endif
#ifndef TRACKS
#define TRACKS 4
#endif

enum track_mode { TENTATIVE, CONFIRMED, COASTING, LOST };

struct track {
    double pos, vel;
    double p00, p01, p11;
    enum track_mode mode;
    int hits, misses;
};

static void predict(struct track *t, double dt, double q)
{
    t->pos += dt * t->vel;
    t->p00 += dt * (2.0 * t->p01 + dt * t->p11) + q * dt * dt * dt / 3.0;
    t->p01 += dt * t->p11 + q * dt * dt / 2.0;
    t->p11 += q * dt;
}

static int update(struct track *t, double z, double r, double gate)
{
    double nu = z - t->pos, s = t->p00 + r;
    if (nu * nu > gate * s)
        return 0;
    double k0 = t->p00 / s, k1 = t->p01 / s;
    t->pos += k0 * nu;
    t->vel += k1 * nu;
    t->p11 -= k1 * t->p01;
    t->p01 -= k0 * t->p01;
    t->p00 -= k0 * t->p00;
    return 1;
}

static void advance(struct track *t, int hit)
{
    if (hit) { t->hits++; t->misses = 0; } else { t->misses++; t->hits = 0; }
    switch (t->mode) {
    case TENTATIVE:
        if (t->hits >= 3) t->mode = CONFIRMED;
        else if (t->misses >= 2) t->mode = LOST;
        break;
    case CONFIRMED:
        if (!hit) t->mode = COASTING;
        break;
    case COASTING:
        if (hit) t->mode = CONFIRMED;
        else if (t->misses > 4) t->mode = LOST;
        break;
    case LOST:
        break;
    }
}

int trk_run(const double meas[STEPS][TRACKS], double est[STEPS][TRACKS], double gate, double noise)
{
    struct track tr[TRACKS];
    int restarts = 0;

    for (int k = 0; k < TRACKS; k++)
        tr[k] = (struct track){ meas[0][k], 0.0, noise, 0.0, 1.0, TENTATIVE, 1, 0 };

    for (int n = 0; n < STEPS; n++)
        for (int k = 0; k < TRACKS; k++) {
            struct track *t = &tr[k];
            if (t->mode == LOST) {
                *t = (struct track){ meas[n][k], 0.0, noise, 0.0, 1.0, TENTATIVE, 1, 0 };
                restarts++;
            } else {
                predict(t, 0.1, 0.5);
                advance(t, update(t, meas[n][k], noise, gate));
            }
            est[n][k] = t->pos;
        }
    return restarts;
}
