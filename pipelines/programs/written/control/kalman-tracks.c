#include <math.h>
#include <stdbool.h>

#ifndef TRACKS
#define TRACKS 6
#endif
#ifndef SCANS
#define SCANS 12
#endif
#ifndef PLOTS
#define PLOTS 8
#endif

/* alpha-beta would not do: constant velocity Kalman filters in x and y with a common
   covariance, nearest neighbour association inside an ellipse. */

typedef struct {
    float x, y, vx, vy;
    float p00, p01, p11;
    int missed;
    bool alive;
} Track;

static Track trk[TRACKS];

static void predict(Track *t, float dt, float q)
{
    float dt2 = dt * dt;
    t->x += dt * t->vx;
    t->y += dt * t->vy;
    t->p00 += 2.f * dt * t->p01 + dt2 * t->p11 + q * dt2 * dt2 * 0.25f;
    t->p01 += dt * t->p11 + q * dt2 * dt * 0.5f;
    t->p11 += q * dt2;
}

static void update(Track *t, float zx, float zy, float r)
{
    float s = t->p00 + r;
    float k0 = t->p00 / s, k1 = t->p01 / s;
    float ex = zx - t->x, ey = zy - t->y;

    t->x += k0 * ex;  t->vx += k1 * ex;
    t->y += k0 * ey;  t->vy += k1 * ey;
    t->p11 -= k1 * t->p01;
    t->p01 *= 1.f - k0;
    t->p00 *= 1.f - k0;
}

/* plots: SCANS x PLOTS x (x, y). history[s][t]: plot taken by track t, -1 coasted, -2 dead. */
int trk_process(const float plots[SCANS][PLOTS][2], float r, float q, float gate,
                signed char history[SCANS][TRACKS], float state[TRACKS][4])
{
    int live = 0, born = 0;

    for (int t = 0; t < TRACKS; t++)
        trk[t].alive = false;

    for (int s = 0; s < SCANS; s++) {
        bool used[PLOTS] = { false };

        for (int t = 0; t < TRACKS; t++) {
            Track *k = &trk[t];
            float best = gate;
            int pick = -1;

            if (!k->alive) { history[s][t] = -2; continue; }
            predict(k, 1.0f, q);
            for (int p = 0; p < PLOTS; p++) {
                float dx, dy, d2;
                if (used[p]) continue;
                dx = plots[s][p][0] - k->x;
                if (fabsf(dx) > 100.f) continue;
                dy = plots[s][p][1] - k->y;
                d2 = (dx * dx + dy * dy) / (k->p00 + r);
                if (d2 < best) { best = d2; pick = p; }
            }
            history[s][t] = (signed char)pick;
            if (pick < 0) {
                if (++k->missed > 3) k->alive = false;
                continue;
            }
            used[pick] = true;
            k->missed = 0;
            update(k, plots[s][pick][0], plots[s][pick][1], r);
        }
        /* left over plots found new tracks */
        for (int p = 0, t = 0; p < PLOTS; p++) {
            if (used[p]) continue;
            while (t < TRACKS && trk[t].alive) t++;
            if (t == TRACKS) break;
            trk[t] = (Track){ plots[s][p][0], plots[s][p][1], 0, 0, r, 0, 25.f, 0, true };
            born++;
        }
    }
    for (int t = 0; t < TRACKS; t++) {
        live += trk[t].alive;
        state[t][0] = trk[t].x;  state[t][1] = trk[t].y;
        state[t][2] = trk[t].vx; state[t][3] = trk[t].vy;
    }
    return live * 1000 + born;
}
