#include <stdint.h>

#ifndef SIDE
#define SIDE 32
#endif
#ifndef MAXNODES
#define MAXNODES 1400
#endif

/* Region quadtree of a map layer (occupancy in per cent): a region is coded as one
   node when the spread inside is within tol. No recursion, own stack. */

typedef struct { int16_t x, y, size; int16_t parent; } Job;
typedef struct { int32_t child; uint8_t level; uint8_t mean; } QNode;

static void spread(const uint8_t *map, const Job *j, int *lo, int *hi, long *sum)
{
    *lo = 255; *hi = 0; *sum = 0;
    for (int y = j->y; y < j->y + j->size; ++y) {
        const uint8_t *row = &map[y * SIDE + j->x];
        for (int x = 0; x < j->size; ++x) {
            int v = row[x];
            if (v < *lo) *lo = v;
            if (v > *hi) *hi = v;
            *sum += v;
        }
    }
}

/* smooth the input first, a measured map is noisy: 4x4 majority of a threshold */
static void coarsen(uint8_t *map, int thr)
{
    for (int by = 0; by < SIDE; by += 4)
        for (int bx = 0; bx < SIDE; bx += 4) {
            int votes = 0;
            for (int k = 0; k < 16; ++k)
                votes += map[(by + k / 4) * SIDE + bx + k % 4] > thr;
            if (votes > 6 && votes < 10) continue;      /* undecided, leave */
            for (int k = 0; k < 16; ++k)
                map[(by + k / 4) * SIDE + bx + k % 4] = votes >= 10 ? 100 : 0;
        }
}

int quadtree_code(uint8_t map[SIDE * SIDE], QNode nodes[MAXNODES], int tol)
{
    Job stack[64];
    int sp = 0, n = 0;

    coarsen(map, 50);
    stack[sp++] = (Job){ 0, 0, SIDE, -1 };
    while (sp > 0) {
        Job j = stack[--sp];
        int lo, hi, level = 0;
        long sum;

        if (n == MAXNODES) return -n;
        spread(map, &j, &lo, &hi, &sum);
        for (int s = SIDE; s > j.size; s >>= 1) ++level;
        nodes[n].child = -1;
        nodes[n].level = (uint8_t)level;
        nodes[n].mean = (uint8_t)(sum / ((long)j.size * j.size));
        if (j.parent >= 0)
            nodes[j.parent].child = n;               /* last one written is the first child */
        if (hi - lo > tol && j.size > 1) {
            int16_t h = (int16_t)(j.size / 2);
            for (int q = 0; q < 4; ++q)
                stack[sp++] = (Job){ (int16_t)(j.x + (q & 1) * h), (int16_t)(j.y + (q >> 1) * h), h, (int16_t)n };
        }
        ++n;
    }
    return n;
}
