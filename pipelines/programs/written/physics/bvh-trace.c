#include <math.h>

#ifndef NTRI
#define NTRI 64
#endif
#ifndef NRAY
#define NRAY 16
#endif
#define LEAFSIZE 3

typedef float real;
typedef real v3[3];

typedef struct tri { v3 a, e1, e2, mid; } tri_t;
typedef struct node {
  v3 lo, hi;
  int first, count;           /* count 0: inner node, children first and first + 1 */
} node_t;

static tri_t tris[NTRI];
static int index_[NTRI];
static node_t nodes[2 * NTRI];
static int nnodes;

static void cross(real *r, const real *a, const real *b) {
  r[0] = a[1] * b[2] - a[2] * b[1];
  r[1] = a[2] * b[0] - a[0] * b[2];
  r[2] = a[0] * b[1] - a[1] * b[0];
}
static real dot3(const real *a, const real *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void bounds(node_t *n) {
  for (int k = 0; k < 3; k++) { n->lo[k] = 1e30f; n->hi[k] = -1e30f; }
  for (int i = n->first; i < n->first + n->count; i++) {
    const tri_t *t = &tris[index_[i]];
    for (int k = 0; k < 3; k++) {
      real p = t->a[k], q = p + t->e1[k], r = p + t->e2[k];
      n->lo[k] = fminf(n->lo[k], fminf(p, fminf(q, r)));
      n->hi[k] = fmaxf(n->hi[k], fmaxf(p, fmaxf(q, r)));
    }
  }
}

/* nodes are split in the order of their creation: no stack wanted */
static void build(void) {
  nnodes = 1;
  nodes[0].first = 0;
  nodes[0].count = NTRI;
  for (int i = 0; i < NTRI; i++) index_[i] = i;
  for (int n = 0; n < nnodes; n++) {
    node_t *nd = &nodes[n];
    bounds(nd);
    if (nd->count <= LEAFSIZE) continue;
    int ax = 0, i = nd->first, j = nd->first + nd->count - 1;
    for (int k = 1; k < 3; k++)
      if (nd->hi[k] - nd->lo[k] > nd->hi[ax] - nd->lo[ax]) ax = k;
    real split = 0.5f * (nd->lo[ax] + nd->hi[ax]);
    while (i <= j) {
      if (tris[index_[i]].mid[ax] < split) i++;
      else { int t = index_[i]; index_[i] = index_[j]; index_[j--] = t; }
    }
    int left = i - nd->first;
    if (left == 0 || left == nd->count) left = nd->count / 2;
    nodes[nnodes].first = nd->first;
    nodes[nnodes].count = left;
    nodes[nnodes + 1].first = nd->first + left;
    nodes[nnodes + 1].count = nd->count - left;
    nd->count = 0;
    nd->first = nnodes;
    nnodes += 2;
  }
}

static int slab(const node_t *n, const real *o, const real *inv, real tbest) {
  real t0 = 0.f, t1 = tbest;
  for (int k = 0; k < 3; k++) {
    real a = (n->lo[k] - o[k]) * inv[k], b = (n->hi[k] - o[k]) * inv[k];
    t0 = fmaxf(t0, fminf(a, b));
    t1 = fminf(t1, fmaxf(a, b));
  }
  return t0 <= t1;
}

static int hit_tri(const tri_t *t, const real *o, const real *d, real *tb) {
  v3 p, s, q;
  cross(p, d, t->e2);
  real det = dot3(t->e1, p);
  if (fabsf(det) < 1e-8f) return 0;
  real inv = 1.f / det;
  for (int k = 0; k < 3; k++) s[k] = o[k] - t->a[k];
  real u = dot3(s, p) * inv;
  if (u < 0.f || u > 1.f) return 0;
  cross(q, s, t->e1);
  real v = dot3(d, q) * inv;
  if (v < 0.f || u + v > 1.f) return 0;
  real tt = dot3(t->e2, q) * inv;
  if (tt < 1e-4f || tt >= *tb) return 0;
  *tb = tt;
  return 1;
}

/* vert: NTRI x 3 x 3. Per ray the number of the nearest triangle, -1 for a miss. */
int bvh_trace(const real *vert, const real *org, const real *dir, int *nearest, real *dist) {
  int tests = 0;
  for (int i = 0; i < NTRI; i++)
    for (int k = 0; k < 3; k++) {
      const real *v = vert + 9 * i + k;
      /* triangles are kept small: edges at a quarter of the given vectors */
      tris[i].a[k] = v[0];
      tris[i].e1[k] = 0.25f * v[3];
      tris[i].e2[k] = 0.25f * v[6];
      tris[i].mid[k] = v[0] + (tris[i].e1[k] + tris[i].e2[k]) / 3.f;
    }
  build();
  for (int r = 0; r < NRAY; r++) {
    const real *o = org + 3 * r, *d = dir + 3 * r;
    int stack[NTRI], sp = 0;
    v3 inv;
    for (int k = 0; k < 3; k++) inv[k] = fabsf(d[k]) > 1e-6f ? 1.f / d[k] : 1e6f;
    nearest[r] = -1;
    dist[r] = 1e20f;
    stack[sp++] = 0;
    while (sp) {
      const node_t *n = &nodes[stack[--sp]];
      if (!slab(n, o, inv, dist[r])) continue;
      if (n->count == 0) { stack[sp++] = n->first; stack[sp++] = n->first + 1; continue; }
      for (int i = n->first; i < n->first + n->count; i++, tests++)
        if (hit_tri(&tris[index_[i]], o, d, &dist[r])) nearest[r] = index_[i];
    }
  }
  return tests;
}
