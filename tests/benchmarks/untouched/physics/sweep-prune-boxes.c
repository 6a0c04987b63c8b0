/* Broad phase of a collision test: sort axis-aligned boxes along x, sweep,
   report overlapping pairs and number the islands of touching boxes. */
#include <stdint.h>

#ifndef BOXES
#define BOXES 60
#endif
#ifndef MAX_PAIRS
#define MAX_PAIRS 400
#endif

typedef struct { int16_t x0, x1, y0, y1; } box_t;
typedef struct { uint16_t a, b; } pair_t;

static box_t    box[BOXES];
static uint16_t by_x[BOXES];
static uint16_t parent[BOXES];

static uint16_t find(uint16_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void shell_sort(void)
{
    int gap, i, j;

    for (gap = 1; gap < BOXES / 3; gap = 3 * gap + 1)
        ;
    for (; gap > 0; gap /= 3)
        for (i = gap; i < BOXES; i++) {
            uint16_t v = by_x[i];
            for (j = i; j >= gap && box[by_x[j - gap]].x0 > box[v].x0; j -= gap)
                by_x[j] = by_x[j - gap];
            by_x[j] = v;
        }
}

/* returns the number of pairs, -1 if there are more than fit */
int sweep_prune_boxes(const int16_t *x, const int16_t *y, const uint8_t *width, const uint8_t *height,
                      pair_t *pair, uint16_t *island, uint16_t *islands)
{
    int n = 0, i, j;

    for (i = 0; i < BOXES; i++) {
        box[i].x0 = x[i];
        box[i].y0 = y[i];
        box[i].x1 = (int16_t)(x[i] + width[i]);
        box[i].y1 = (int16_t)(y[i] + height[i]);
        by_x[i] = parent[i] = (uint16_t)i;
    }
    *islands = 0;
    shell_sort();

    for (i = 0; i < BOXES; i++) {
        uint16_t a = by_x[i];
        for (j = i + 1; j < BOXES; j++) {
            uint16_t b = by_x[j];
            if (box[b].x0 > box[a].x1)
                break;                          /* and so are all after it */
            if (box[b].y0 > box[a].y1 || box[a].y0 > box[b].y1)
                continue;
            if (n == MAX_PAIRS)
                return -1;
            pair[n].a = a < b ? a : b;
            pair[n].b = a < b ? b : a;
            n++;
            uint16_t ra = find(a), rb = find(b);
            if (ra < rb)
                parent[rb] = ra;
            else
                parent[ra] = rb;
        }
    }

    /* the root is the smallest member, so it is numbered first */
    for (i = 0; i < BOXES; i++)
        island[i] = parent[i] == i ? (*islands)++ : island[find((uint16_t)i)];
    return n;
}
