#include <stdint.h>
#include <stdbool.h>

#ifndef CURVES
#define CURVES 8
#endif
#ifndef MAXPT
#define MAXPT 640
#endif
#define STACK 12

/* glyph outlines: cubic curves in 26.6 coordinates are flattened adaptively,
   by de Casteljau halves on a small stack of control points */
typedef int32_t f26d6;
typedef struct { f26d6 x, y; } Vec;

static f26d6 iabs(f26d6 v) { return v < 0 ? -v : v; }

/* second differences bound the deviation from the chord */
static bool flat(const Vec *c, f26d6 tol)
{
    f26d6 ax = iabs(c[0].x - 2 * c[1].x + c[2].x), ay = iabs(c[0].y - 2 * c[1].y + c[2].y);
    f26d6 bx = iabs(c[1].x - 2 * c[2].x + c[3].x), by = iabs(c[1].y - 2 * c[2].y + c[3].y);
    f26d6 a = ax > ay ? ax + ay / 2 : ay + ax / 2;
    f26d6 b = bx > by ? bx + by / 2 : by + bx / 2;
    return (a > b ? a : b) <= tol;
}

static inline Vec mid(Vec a, Vec b) { return (Vec){ (a.x + b.x) / 2, (a.y + b.y) / 2 }; }

/* points run backwards: the later half stays in c[0..3], the earlier one goes to c[3..6] */
static void split(Vec *c)
{
    Vec q0 = mid(c[0], c[1]), q1 = mid(c[1], c[2]), q2 = mid(c[2], c[3]);
    Vec r0 = mid(q0, q1), r1 = mid(q1, q2);

    c[6] = c[3];
    c[5] = q2;
    c[4] = r1;
    c[3] = mid(r0, r1);
    c[2] = r0;
    c[1] = q0;
}

int outline_flatten(f26d6 x0, f26d6 y0, const f26d6 *ctrl, f26d6 tol, Vec *pts, int64_t *area2)
{
    int n = 0;
    Vec at = { x0, y0 };
    int64_t area = 0;

    pts[n++] = at;
    for (int k = 0; k < CURVES; k++) {
        Vec buf[3 * STACK + 4], *c = buf;
        const f26d6 *q = ctrl + 6 * k;

        /* stored end first, so that halves pop in drawing order */
        c[3] = at;
        c[2] = (Vec){ q[0], q[1] };
        c[1] = (Vec){ q[2], q[3] };
        c[0] = (Vec){ q[4], q[5] };
        at = c[0];
        for (;;) {
            if (c < buf + 3 * (STACK - 1) && !flat(c, tol)) {
                split(c);
                c += 3;
                continue;
            }
            if (n == MAXPT) goto full;
            pts[n] = c[0];
            area += (int64_t)pts[n - 1].x * pts[n].y - (int64_t)pts[n].x * pts[n - 1].y;
            n++;
            if (c == buf) break;
            c -= 3;
        }
    }
full:
    *area2 = area;
    return n;
}
