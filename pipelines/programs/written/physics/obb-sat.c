#include <math.h>
#include <stdbool.h>

#ifndef NBOX
#define NBOX 24
#endif

typedef struct { float x, y; } vec2;
typedef struct { vec2 c, u, v; float hu, hv; } obb2;        /* centre, axes, half sizes */
typedef struct { short a, b; vec2 n; float depth; } contact;

static inline vec2 sub(vec2 a, vec2 b) { return (vec2){ a.x - b.x, a.y - b.y }; }
static inline float dot(vec2 a, vec2 b) { return a.x * b.x + a.y * b.y; }

static bool overlap_on(const obb2 *a, const obb2 *b, vec2 axis, float *best, vec2 *normal)
{
    float ra = a->hu * fabsf(dot(a->u, axis)) + a->hv * fabsf(dot(a->v, axis));
    float rb = b->hu * fabsf(dot(b->u, axis)) + b->hv * fabsf(dot(b->v, axis));
    float d = dot(sub(b->c, a->c), axis);
    float pen = ra + rb - fabsf(d);

    if (pen <= 0.0f)
        return false;
    if (pen < *best) {
        *best = pen;
        if (d < 0.0f) { axis.x = -axis.x; axis.y = -axis.y; }
        *normal = axis;
    }
    return true;
}

static bool sat(const obb2 *a, const obb2 *b, contact *out)
{
    float best = 1e30f;
    vec2 n = { 0, 0 };

    if (!overlap_on(a, b, a->u, &best, &n)) return false;
    if (!overlap_on(a, b, a->v, &best, &n)) return false;
    if (!overlap_on(a, b, b->u, &best, &n)) return false;
    if (!overlap_on(a, b, b->v, &best, &n)) return false;
    out->n = n;
    out->depth = best;
    return true;
}

/* All pairs after a cheap circle test; fills at most maxc contacts. */
int obb_narrowphase(const float *pos, const float *angle, const float *half, contact *c, int maxc, float *deepest)
{
    static obb2 box[NBOX];
    int n = 0;

    for (int i = 0; i < NBOX; i++) {
        float co = cosf(angle[i]), si = sinf(angle[i]);
        box[i].c = (vec2){ pos[2 * i], pos[2 * i + 1] };
        box[i].u = (vec2){ co, si };
        box[i].v = (vec2){ -si, co };
        box[i].hu = half[2 * i];
        box[i].hv = half[2 * i + 1];
    }
    *deepest = 0.0f;
    for (int i = 0; i < NBOX; i++) {
        for (int j = i + 1; j < NBOX; j++) {
            vec2 d = sub(box[j].c, box[i].c);
            float r = box[i].hu + box[i].hv + box[j].hu + box[j].hv;
            contact t = { (short)i, (short)j, { 0, 0 }, 0 };
            if (dot(d, d) > r * r) continue;
            if (!sat(&box[i], &box[j], &t)) continue;
            if (t.depth > *deepest) *deepest = t.depth;
            if (n == maxc) return n;
            c[n++] = t;
        }
    }
    return n;
}
