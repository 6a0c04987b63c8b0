#include <stdint.h>

#ifndef VERTS
#define VERTS 32
#endif

/* Triangulation of a star-shaped outline given as radii. The polygon is laid out
   with an integer circle (64 directions, 1/256), then cut down ear by ear. */

static const int16_t QUARTER[17] = {
    0, 25, 50, 74, 98, 121, 142, 162, 181, 198, 213, 226, 237, 245, 251, 255, 256
};

static int isin64(int a)
{
    a &= 63;
    if (a <= 16) return QUARTER[a];
    if (a <= 32) return QUARTER[32 - a];
    if (a <= 48) return -QUARTER[a - 32];
    return -QUARTER[64 - a];
}

struct pnt { int32_t x, y; };

static int64_t orient(struct pnt a, struct pnt b, struct pnt c)
{
    return (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(b.y - a.y) * (c.x - a.x);
}

static int inside(struct pnt a, struct pnt b, struct pnt c, struct pnt p)
{
    return orient(a, b, p) >= 0 && orient(b, c, p) >= 0 && orient(c, a, p) >= 0;
}

/* tri: triples of vertex numbers. Returns the number of triangles, *area2 twice the
   area covered. */
int ear_clip(const uint16_t radius[VERTS], uint8_t tri[VERTS][3], int64_t *area2)
{
    struct pnt p[VERTS];
    uint8_t next[VERTS], prev[VERTS];
    int left = VERTS, n = 0, v = 0, stuck = 0;
    int64_t sum = 0;

    for (int i = 0; i < VERTS; i++) {
        int a = i * 64 / VERTS;
        p[i].x = radius[i] * isin64(a + 16);
        p[i].y = radius[i] * isin64(a);
        next[i] = (uint8_t)((i + 1) % VERTS);
        prev[i] = (uint8_t)((i + VERTS - 1) % VERTS);
    }

    while (left > 3) {
        int a = prev[v], c = next[v], ear = 0;
        int64_t o = orient(p[a], p[v], p[c]);

        if (o > 0) {
            ear = 1;
            for (int k = next[c]; k != a; k = next[k])
                if (inside(p[a], p[v], p[c], p[k])) {
                    ear = 0;
                    break;
                }
        } else if (o == 0)
            ear = 1;                    /* collinear: drop it without a triangle */

        if (!ear) {
            if (++stuck > left)
                break;
            v = c;
            continue;
        }
        if (o > 0) {
            tri[n][0] = (uint8_t)a;
            tri[n][1] = (uint8_t)v;
            tri[n][2] = (uint8_t)c;
            n++;
            sum += o;
        }
        next[a] = (uint8_t)c;
        prev[c] = (uint8_t)a;
        left--;
        stuck = 0;
        v = next[c];                    /* skip one: fewer slivers */
    }
    if (left == 3) {
        tri[n][0] = prev[v];
        tri[n][1] = (uint8_t)v;
        tri[n][2] = next[v];
        sum += orient(p[prev[v]], p[v], p[next[v]]);
        n++;
    }
    *area2 = sum;
    return n;
}
