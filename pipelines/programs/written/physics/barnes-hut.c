#include <math.h>
#include <stddef.h>

#ifndef BODIES
#define BODIES 64
#endif
#define POOL (8 * BODIES)
#define MAXDEPTH 12

/* quad tree for gravity in the plane; cells come from a pool, child 0 = none */
typedef struct cell {
    double cx, cy, half;        /* square */
    double m, mx, my;           /* mass and first moments */
    int child[4];
    int body;                   /* -1 none or many */
} cell_t;

static cell_t pool[POOL];
static int used;

static int cell_new(double cx, double cy, double half)
{
    cell_t *c;
    if (used == POOL) return 0;
    c = &pool[used];
    *c = (cell_t){ cx, cy, half, 0, 0, 0, { 0, 0, 0, 0 }, -1 };
    return used++;
}

static int quadrant(const cell_t *c, double x, double y)
{
    return (x >= c->cx) | (y >= c->cy) << 1;
}

static int down(int at, double x, double y)
{
    int q = quadrant(&pool[at], x, y);
    if (!pool[at].child[q]) {
        double h = 0.5 * pool[at].half;
        pool[at].child[q] = cell_new(pool[at].cx + (q & 1 ? h : -h), pool[at].cy + (q & 2 ? h : -h), h);
    }
    return pool[at].child[q];
}

static void insert(const double *px, const double *py, const double *mass, int b)
{
    int at = 0, depth = 0;
    for (;;) {
        cell_t *c = &pool[at];
        double before = c->m;
        c->m += mass[b];
        c->mx += mass[b] * px[b];
        c->my += mass[b] * py[b];
        if (before == 0.0) { c->body = b; return; }
        if (++depth > MAXDEPTH) { c->body = -1; return; }        /* very close pair: lump */
        if (c->body >= 0) {
            int old = c->body, n = down(at, px[old], py[old]);
            pool[at].body = -1;
            if (n == 0) return;
            pool[n].m = mass[old];
            pool[n].mx = mass[old] * px[old];
            pool[n].my = mass[old] * py[old];
            pool[n].body = old;
        }
        at = down(at, px[b], py[b]);
        if (at == 0) return;
    }
}

/* Accelerations with opening angle theta; returns interactions counted. */
long bh_accel(const double px[BODIES], const double py[BODIES], const double mass[BODIES],
              double theta, double ax[BODIES], double ay[BODIES])
{
    long inter = 0;
    int stack[4 * MAXDEPTH + 8];

    used = 0;
    cell_new(0.0, 0.0, 1.0);
    for (int b = 0; b < BODIES; b++) insert(px, py, mass, b);

    for (int b = 0; b < BODIES; b++) {
        int sp = 0;
        ax[b] = ay[b] = 0.0;
        stack[sp++] = 0;
        while (sp) {
            const cell_t *c = &pool[stack[--sp]];
            double dx, dy, d2, w;
            if (c->body == b) continue;
            dx = c->mx / c->m - px[b];
            dy = c->my / c->m - py[b];
            d2 = dx * dx + dy * dy + 1e-4;
            if (c->body < 0 && 4.0 * c->half * c->half > theta * theta * d2) {
                int any = 0;
                for (int q = 0; q < 4; q++)
                    if (c->child[q]) { stack[sp++] = c->child[q]; any = 1; }
                if (any) continue;
            }
            w = c->m / (d2 * sqrt(d2));
            ax[b] += w * dx;
            ay[b] += w * dy;
            inter++;
        }
    }
    return inter;
}
