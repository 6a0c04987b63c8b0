/*
 *  Constant velocity tracker for one axis of a radar plot.
 *
 *  Plots may be missing (valid[i] == 0) and are thrown away when the
 *  innovation leaves the gate.  After MAX_MISS misses in a row the track is
 *  dropped and started anew with the next valid plot.
 */
#ifndef STEPS
#define STEPS 64
#endif
#define MAX_MISS 3
#define GATE     9.0        /* 3 sigma, squared */

enum phase { IDLE, TENTATIVE, FIRM };

struct track {
    double pos, vel;
    double p00, p01, p11;   /* covariance, symmetric */
    enum phase phase;
    int misses;
};

static void predict(struct track *t, double dt, double q)
{
    t->pos += dt * t->vel;
    t->p00 += dt * (2.0 * t->p01 + dt * t->p11) + 0.25 * q * dt * dt * dt * dt;
    t->p01 += dt * t->p11 + 0.5 * q * dt * dt * dt;
    t->p11 += q * dt * dt;
}

/* 1 if the plot was inside of the gate */
static int update(struct track *t, double z, double r)
{
    double nu = z - t->pos;
    double s = t->p00 + r;
    double k0, k1;

    if (nu * nu > GATE * s)
        return 0;

    k0 = t->p00 / s;
    k1 = t->p01 / s;
    t->pos += k0 * nu;
    t->vel += k1 * nu;
    t->p11 -= k1 * t->p01;
    t->p01 -= k1 * t->p00;
    t->p00 -= k0 * t->p00;
    return 1;
}

int track_axis(const double plot[STEPS], const unsigned char valid[STEPS],
               double pos[STEPS], double vel[STEPS],
               double dt, double q, double r)
{
    struct track t = {0};
    int i, firm_steps = 0;

    for (i = 0; i < STEPS; i++) {
        int have = valid[i] != 0;

        switch (t.phase) {
        case IDLE:
            if (!have)
                break;
            t.pos = plot[i];
            t.vel = 0.0;
            t.p00 = r;
            t.p01 = 0.0;
            t.p11 = 25.0;
            t.misses = 0;
            t.phase = TENTATIVE;
            break;
        case TENTATIVE:
        case FIRM:
            predict(&t, dt, q);
            if (have && update(&t, plot[i], r)) {
                t.misses = 0;
                t.phase = FIRM;
            } else if (++t.misses > MAX_MISS || t.phase == TENTATIVE) {
                t.phase = IDLE;
            }
            break;
        }
        pos[i] = t.pos;
        vel[i] = t.vel;
        firm_steps += t.phase == FIRM;
    }
    return firm_steps;
}
