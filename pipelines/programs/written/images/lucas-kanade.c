#include <math.h>

#ifndef FW
#define FW 32
#endif
#ifndef FH
#define FH 32
#endif
#ifndef POINTS
#define POINTS 8
#endif
#define HALFWIN 3
#define MAX_ITER 6

typedef struct vec2 { float x, y; } vec2;

static float bilin(const float *im, float x, float y)
{
    int ix = (int)x, iy = (int)y;
    float fx = x - (float)ix, fy = y - (float)iy;
    const float *p = im + iy * FW + ix;
    return (1 - fy) * ((1 - fx) * p[0] + fx * p[1]) + fy * ((1 - fx) * p[FW] + fx * p[FW + 1]);
}

static int inside(vec2 p)
{
    const float m = HALFWIN + 1.5f;
    return p.x >= m && p.y >= m && p.x < FW - 1 - m && p.y < FH - 1 - m;
}

/* status codes: 0 tracked, 1 out of frame, 2 no texture, 3 did not settle */
void klt_track(const float *prev, const float *next, const float *px, const float *py,
               vec2 *flow, int *status, float min_eig)
{
    for (int k = 0; k < POINTS; k++) {
        vec2 p = { px[k], py[k] }, d = { 0, 0 };
        float Ix[49], Iy[49], T[49], a = 0, b = 0, c = 0;
        int n = 0, it;

        flow[k] = d;
        if (!inside(p)) { status[k] = 1; continue; }

        for (int j = -HALFWIN; j <= HALFWIN; j++)
            for (int i = -HALFWIN; i <= HALFWIN; i++, n++) {
                float x = p.x + i, y = p.y + j;
                T[n] = bilin(prev, x, y);
                Ix[n] = 0.5f * (bilin(prev, x + 1, y) - bilin(prev, x - 1, y));
                Iy[n] = 0.5f * (bilin(prev, x, y + 1) - bilin(prev, x, y - 1));
                a += Ix[n] * Ix[n];
                b += Ix[n] * Iy[n];
                c += Iy[n] * Iy[n];
            }
        float eig = 0.5f * (a + c - sqrtf((a - c) * (a - c) + 4 * b * b));
        if (eig < min_eig * n) { status[k] = 2; continue; }
        float det = a * c - b * b;

        status[k] = 3;
        for (it = 0; it < MAX_ITER; it++) {
            vec2 q = { p.x + d.x, p.y + d.y };
            if (!inside(q)) { status[k] = 1; break; }
            float ex = 0, ey = 0;
            n = 0;
            for (int j = -HALFWIN; j <= HALFWIN; j++)
                for (int i = -HALFWIN; i <= HALFWIN; i++, n++) {
                    float diff = T[n] - bilin(next, q.x + i, q.y + j);
                    ex += diff * Ix[n];
                    ey += diff * Iy[n];
                }
            float ux = (c * ex - b * ey) / det, uy = (a * ey - b * ex) / det;
            d.x += ux;
            d.y += uy;
            if (ux * ux + uy * uy < 1e-3f) { status[k] = 0; break; }
        }
        flow[k] = d;
    }
}
