#include <math.h>
#include <stdbool.h>

#ifndef ROWS
#define ROWS 7
#endif
#ifndef COLS
#define COLS 8
#endif
#ifndef STEPS
#define STEPS 5
#endif
#ifndef RELAX
#define RELAX 3
#endif

#define GRAVITY (-9.81f)
#define DT      0.02f
#define DAMP    0.985f
#define FLOOR_Z (-1.5f)

struct particle {
    float pos[3];
    float old[3];
    bool fixed;
};

static struct particle cloth[ROWS][COLS];

static float stretch(struct particle *a, struct particle *b, float rest)
{
    float d[3], len2 = 0.f;
    for (int k = 0; k < 3; k++) {
        d[k] = b->pos[k] - a->pos[k];
        len2 += d[k] * d[k];
    }
    if (len2 < 1e-12f || (a->fixed && b->fixed))
        return 0.f;
    float len = sqrtf(len2);
    float share = a->fixed || b->fixed ? 1.f : 0.5f;
    float corr = share * (len - rest) / len;
    for (int k = 0; k < 3; k++) {
        if (!a->fixed) a->pos[k] += corr * d[k];
        if (!b->fixed) b->pos[k] -= corr * d[k];
    }
    return fabsf(len - rest);
}

static void integrate(const float wind[3])
{
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            struct particle *p = &cloth[r][c];
            if (p->fixed)
                continue;
            for (int k = 0; k < 3; k++) {
                float acc = wind[k] + (k == 2 ? GRAVITY : 0.f);
                float now = p->pos[k];
                p->pos[k] = now + DAMP * (now - p->old[k]) + acc * DT * DT;
                p->old[k] = now;
            }
            if (p->pos[2] < FLOOR_Z) {      // sticks to the floor a little
                p->pos[2] = FLOOR_Z;
                p->old[0] = 0.5f * (p->old[0] + p->pos[0]);
                p->old[1] = 0.5f * (p->old[1] + p->pos[1]);
            }
        }
}

/* A cloth hung at the two upper corners, in changing wind. z[] starts as the
   crumple of the sheet and ends as its heights; returns the remaining strain
   of the last relaxation sweep. */
float cloth_verlet(float z[ROWS][COLS], const float wind[STEPS][3], float rest)
{
    const float diag = rest * 1.41421356f;
    float strain = 0.f;

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            struct particle *p = &cloth[r][c];
            p->pos[0] = rest * (float)c;
            p->pos[1] = rest * (float)r;
            p->pos[2] = z[r][c];
            for (int k = 0; k < 3; k++)
                p->old[k] = p->pos[k];
            p->fixed = r == 0 && (c == 0 || c == COLS - 1);
        }

    for (int s = 0; s < STEPS; s++) {
        integrate(wind[s]);
        for (int it = 0; it < RELAX; it++) {
            strain = 0.f;
            for (int r = 0; r < ROWS; r++)
                for (int c = 0; c < COLS; c++) {
                    struct particle *p = &cloth[r][c];
                    bool right = c + 1 < COLS, down = r + 1 < ROWS;
                    if (right)
                        strain += stretch(p, &cloth[r][c + 1], rest);
                    if (down)
                        strain += stretch(p, &cloth[r + 1][c], rest);
                    if (right && down) {
                        strain += stretch(p, &cloth[r + 1][c + 1], diag);
                        strain += stretch(&cloth[r][c + 1], &cloth[r + 1][c], diag);
                    }
                }
        }
    }

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            z[r][c] = cloth[r][c].pos[2];
    return strain;
}
