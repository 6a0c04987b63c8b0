#include <stddef.h>

#ifndef ROWS
#define ROWS 24
#endif
#ifndef COLS
#define COLS 36
#endif
#ifndef MAX_BLOBS
#define MAX_BLOBS 48
#endif

/* 8-connected: a new label needs a 2x2 cell of its own */
#define MAX_LABELS (((ROWS + 1) / 2) * ((COLS + 1) / 2) + 1)

typedef unsigned short label_t;

typedef struct {
    int left, top, right, bottom;
    int area;
    long sum_x, sum_y;
    int cx_q4, cy_q4;           /* centroid, 1/16 pixel */
} blob_t;

static label_t parent[MAX_LABELS];
static int     number[MAX_LABELS];
static blob_t  work[MAX_LABELS];

static label_t find_root(label_t l)
{
    while (parent[l] != l) {
        parent[l] = parent[parent[l]];      /* halve the path */
        l = parent[l];
    }
    return l;
}

static label_t join(label_t a, label_t b)
{
    if (a == 0) return b;
    if (b == 0) return a;
    a = find_root(a);
    b = find_root(b);
    if (a < b) {
        parent[b] = a;
        return a;
    }
    parent[a] = b;
    return b;
}

static void blob_grow(blob_t *b, int x, int y)
{
    if (b->area == 0) {
        b->left = b->right = x;
        b->top = y;
    }
    if (x < b->left)  b->left = x;
    if (x > b->right) b->right = x;
    b->bottom = y;
    b->area++;
    b->sum_x += x;
    b->sum_y += y;
}

/*
 * Number of blobs with at least min_area pixels, in order of their first
 * pixel, or -1 if there are more than the table can take. On return map[][]
 * has the number of the blob (1...) or 0.
 */
int label_blobs(unsigned char img[ROWS][COLS], label_t map[ROWS][COLS],
                blob_t *blobs, int threshold, int min_area)
{
    int x, y, found = 0;
    label_t l, last = 0;

    for (y = 0; y < ROWS; y++) {
        for (x = 0; x < COLS; x++) {
            if (img[y][x] < threshold) {
                map[y][x] = 0;
                continue;
            }
            l = x > 0 ? map[y][x - 1] : 0;
            if (y > 0) {
                if (map[y - 1][x])
                    l = join(l, map[y - 1][x]);
                else {
                    if (x > 0)        l = join(l, map[y - 1][x - 1]);
                    if (x < COLS - 1) l = join(l, map[y - 1][x + 1]);
                }
            }
            if (l == 0) {
                l = ++last;
                parent[l] = l;
            }
            map[y][x] = l;
        }
    }

    for (l = 1; l <= last; l++) {
        blob_t empty = {0};
        work[l] = empty;
        number[l] = 0;
    }

    for (y = 0; y < ROWS; y++)
        for (x = 0; x < COLS; x++)
            if (map[y][x]) {
                map[y][x] = find_root(map[y][x]);
                blob_grow(&work[map[y][x]], x, y);
            }

    for (l = 1; l <= last; l++) {
        blob_t *b = &work[l];

        if (b->area < min_area || b->area == 0)
            continue;
        if (found == MAX_BLOBS)
            goto too_many;
        b->cx_q4 = (int)((16 * b->sum_x + b->area / 2) / b->area);
        b->cy_q4 = (int)((16 * b->sum_y + b->area / 2) / b->area);
        blobs[found++] = *b;
        number[l] = found;
    }

    for (y = 0; y < ROWS; y++)
        for (x = 0; x < COLS; x++)
            map[y][x] = map[y][x] ? (label_t)number[map[y][x]] : 0;
    return found;

too_many:
    return -1;
}
