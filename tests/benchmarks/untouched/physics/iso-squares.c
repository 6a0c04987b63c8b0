// Iso line of a height field: marching squares with linear interpolation.
// Saddles are decided by the mean of the four corners.

#include <math.h>
#include <stddef.h>

#ifndef NX
#define NX 24
#endif
#ifndef NY
#define NY 20
#endif

struct segment { float x0, y0, x1, y1; };

struct tracer {
    struct segment *seg;
    size_t count;
    float corner[4];   // counter clockwise from the lower left
    float level;
    float px, py;
};

static void edge_point(const struct tracer *t, int edge, float *x, float *y)
{
    float a = t->corner[edge], b = t->corner[(edge + 1) & 3];
    float f = (t->level - a) / (b - a);      // the edge is crossed, so a != b

    switch (edge) {
    case 0: *x = t->px + f;        *y = t->py;            break;
    case 1: *x = t->px + 1.0f;     *y = t->py + f;        break;
    case 2: *x = t->px + 1.0f - f; *y = t->py + 1.0f;     break;
    case 3: *x = t->px;            *y = t->py + 1.0f - f; break;
    }
}

static float join(struct tracer *t, int from, int to)
{
    struct segment *s = &t->seg[t->count++];
    edge_point(t, from, &s->x0, &s->y0);
    edge_point(t, to, &s->x1, &s->y1);
    float dx = s->x1 - s->x0, dy = s->y1 - s->y0;
    return sqrtf(dx * dx + dy * dy);
}

size_t iso_squares(const float height[NY][NX], float level, struct segment *seg, float *length)
{
    struct tracer t = { .seg = seg, .level = level };
    float total = 0.0f;

    for (int y = 0; y + 1 < NY; y++) {
        for (int x = 0; x + 1 < NX; x++) {
            t.px = (float)x;
            t.py = (float)y;
            t.corner[0] = height[y][x];
            t.corner[1] = height[y][x + 1];
            t.corner[2] = height[y + 1][x + 1];
            t.corner[3] = height[y + 1][x];

            int kind = 0;
            float mean = 0.0f;
            for (int k = 0; k < 4; k++) {
                kind |= (t.corner[k] >= level) << k;
                mean += 0.25f * t.corner[k];
            }

            switch (kind) {
            case 0:
            case 15:
                break;
            case 1:
            case 14:
                total += join(&t, 3, 0);
                break;
            case 2:
            case 13:
                total += join(&t, 0, 1);
                break;
            case 4:
            case 11:
                total += join(&t, 1, 2);
                break;
            case 8:
            case 7:
                total += join(&t, 2, 3);
                break;
            case 3:
            case 12:
                total += join(&t, 3, 1);
                break;
            case 6:
            case 9:
                total += join(&t, 0, 2);
                break;
            case 5:
            case 10:
                if ((kind == 5) == (mean >= level)) {
                    total += join(&t, 0, 1);
                    total += join(&t, 2, 3);
                } else {
                    total += join(&t, 3, 0);
                    total += join(&t, 1, 2);
                }
                break;
            }
        }
    }
    *length = total;
    return t.count;
}
