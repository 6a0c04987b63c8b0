#include <stdio.h>

/* Nearest neighbours in the plane with a k-d tree that needs no pointers: the
 * middle of every range of idx[] is its node, both halves are its subtrees. */

#ifndef SITES
#define SITES 120
#endif
#ifndef ASKS
#define ASKS 20
#endif

#define STACK 64

typedef struct { short c[2]; } site;
typedef struct { int lo, hi, axis; long gap; } range;

static site s[SITES];
static int idx[SITES];

/* brings the middle element of lo .. hi-1 (by one coordinate) to its place */
static int split(int lo, int hi, int axis)
{
    int mid = lo + (hi - lo) / 2, l = lo, r = hi - 1;

    while (l < r) {
        short pivot = s[idx[mid]].c[axis];
        int i = l, j = r;
        do {
            while (s[idx[i]].c[axis] < pivot) ++i;
            while (s[idx[j]].c[axis] > pivot) --j;
            if (i <= j) {
                int t = idx[i];
                idx[i++] = idx[j];
                idx[j--] = t;
            }
        } while (i <= j);
        if (j < mid) l = i;
        if (i > mid) r = j;
    }
    return mid;
}

static void build(void)
{
    range todo[STACK];
    int top = 0;

    todo[top++] = (range){ 0, SITES, 0, 0 };
    while (top > 0) {
        range r = todo[--top];
        if (r.hi - r.lo < 2) continue;
        int mid = split(r.lo, r.hi, r.axis);
        todo[top++] = (range){ r.lo, mid, !r.axis, 0 };
        todo[top++] = (range){ mid + 1, r.hi, !r.axis, 0 };
    }
}

static int nearest(const short q[2], long *dist, int *visits)
{
    range todo[STACK];
    int top = 0, best = -1;
    long best_d = -1;

    todo[top++] = (range){ 0, SITES, 0, 0 };
    while (top > 0) {
        range r = todo[--top];
        if (r.lo >= r.hi || (best >= 0 && r.gap > best_d)) continue;
        int mid = r.lo + (r.hi - r.lo) / 2;
        const site *p = &s[idx[mid]];
        long dx = q[0] - p->c[0], dy = q[1] - p->c[1], d = dx * dx + dy * dy;
        long side = r.axis ? dy : dx;

        ++*visits;
        if (best < 0 || d < best_d || (d == best_d && idx[mid] < best)) {
            best = idx[mid];
            best_d = d;
        }
        range left = { r.lo, mid, !r.axis, side > 0 ? side * side : 0 };
        range right = { mid + 1, r.hi, !r.axis, side < 0 ? side * side : 0 };
        /* the nearer half goes on top */
        todo[top++] = side < 0 ? right : left;
        todo[top++] = side < 0 ? left : right;
    }
    *dist = best_d;
    return best;
}

int kd_nearest(const short xy[SITES][2], const short ask[ASKS][2], int found[ASKS], long dist[ASKS])
{
    int visits = 0, i;

    for (i = 0; i < SITES; i++) {
        s[i].c[0] = xy[i][0];
        s[i].c[1] = xy[i][1];
        idx[i] = i;
    }
    build();
    for (i = 0; i < ASKS; i++)
        found[i] = nearest(ask[i], &dist[i], &visits);
    return visits;
}

int main(void)
{
    static short xy[SITES][2], ask[ASKS][2];
    int found[ASKS], i;
    long dist[ASKS];

    for (i = 0; i < SITES; i++) {
        xy[i][0] = (short)(i * 71 % 199);
        xy[i][1] = (short)(i * 57 % 211);
    }
    i = kd_nearest(xy, ask, found, dist);
    printf("site %d at %ld, %d visits\n", found[0], dist[0], i);
    return 0;
}
