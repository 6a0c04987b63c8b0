/* k-d tree in an implicit layout: built by quickselect, queried without recursion */
#include <float.h>

#ifndef NPTS
#define NPTS 128
#endif
#ifndef NQRY
#define NQRY 40
#endif
#ifndef DIM
#define DIM 3
#endif

struct kd_point { float x[DIM]; int id; };
struct kd_range { int lo, hi, axis; float gap; };

static struct kd_point pt[NPTS];

static void kd_swap(int a, int b)
{
  struct kd_point t = pt[a];
  pt[a] = pt[b];
  pt[b] = t;
}

/* pt[k] gets the element of rank k in [lo, hi) by the coordinate */
static void kd_select(int lo, int hi, int k, int axis)
{
  hi--;
  while (lo < hi) {
    float pivot = pt[(lo + hi) / 2].x[axis];
    int i = lo, j = hi;
    do {
      while (pt[i].x[axis] < pivot) i++;
      while (pt[j].x[axis] > pivot) j--;
      if (i <= j) { kd_swap(i, j); i++; j--; }
    } while (i <= j);
    if (k <= j) hi = j;
    else if (k >= i) lo = i;
    else return;
  }
}

static void kd_build(void)
{
  struct kd_range stack[64];
  int sp = 0;
  stack[sp++] = (struct kd_range){0, NPTS, 0, 0};
  while (sp) {
    struct kd_range r = stack[--sp];
    int mid = (r.lo + r.hi) / 2, next = (r.axis + 1) % DIM;
    if (r.hi - r.lo < 2) continue;
    kd_select(r.lo, r.hi, mid, r.axis);
    stack[sp++] = (struct kd_range){r.lo, mid, next, 0};
    stack[sp++] = (struct kd_range){mid + 1, r.hi, next, 0};
  }
}

static int kd_nearest(const float *q, float *dist2)
{
  struct kd_range stack[64];
  int sp = 0, best = -1;
  float bestd = FLT_MAX;

  stack[sp++] = (struct kd_range){0, NPTS, 0, 0.0f};
  while (sp) {
    struct kd_range r = stack[--sp];
    if (r.lo >= r.hi || r.gap >= bestd) continue;
    int mid = (r.lo + r.hi) / 2, next = (r.axis + 1) % DIM;
    const struct kd_point *p = &pt[mid];
    float d = 0, side = q[r.axis] - p->x[r.axis];
    for (int k = 0; k < DIM; k++) d += (q[k] - p->x[k]) * (q[k] - p->x[k]);
    if (d < bestd) { bestd = d; best = p->id; }
    struct kd_range l = {r.lo, mid, next, 0}, g = {mid + 1, r.hi, next, 0};
    if (side < 0) { g.gap = side * side; stack[sp++] = g; stack[sp++] = l; }
    else          { l.gap = side * side; stack[sp++] = l; stack[sp++] = g; }
  }
  *dist2 = bestd;
  return best;
}

void kd_match(const float points[NPTS][DIM], const float query[NQRY][DIM], int idx[NQRY], float d2[NQRY])
{
  for (int i = 0; i < NPTS; i++) {
    for (int k = 0; k < DIM; k++) pt[i].x[k] = points[i][k];
    pt[i].id = i;
  }
  kd_build();
  for (int i = 0; i < NQRY; i++) idx[i] = kd_nearest(query[i], &d2[i]);
}
