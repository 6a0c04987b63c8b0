#include <stddef.h>
#ifndef ROWS
#define ROWS 32
#endif
#ifndef COLS
#define COLS 32
#endif

typedef unsigned short label_t;

struct blob
{
    unsigned area;
    unsigned short x0, y0, x1, y1;
    unsigned long sx, sy;
};

static label_t parent[ROWS * COLS / 2 + 1];

static label_t root(label_t a)
{
    while (parent[a] != a)
    {
        parent[a] = parent[parent[a]];      /* halving */
        a = parent[a];
    }
    return a;
}

static label_t join(label_t a, label_t b)
{
    a = root(a);
    b = root(b);
    if (a == b) return a;
    if (a < b) { parent[b] = a; return a; }
    parent[a] = b;
    return b;
}

/* 4-connected components of pixels above a threshold; bounding boxes of those with at
   least minArea pixels, in raster order of their first pixel. Returns their number. */
size_t blob_find(const unsigned char *image, label_t *labels, struct blob *blobs,
                 unsigned char threshold, unsigned minArea)
{
    label_t next = 1;
    size_t n, kept;

    for (size_t y = 0; y < ROWS; ++y)
    {
        const unsigned char *p = image + y * COLS;
        label_t *l = labels + y * COLS;
        for (size_t x = 0; x < COLS; ++x)
        {
            if (p[x] < threshold) { l[x] = 0; continue; }
            label_t up = y ? l[x - COLS] : 0, left = x ? l[x - 1] : 0;
            if (up && left) l[x] = join(up, left);
            else if (up | left) l[x] = up | left;
            else
            {
                parent[next] = next;
                l[x] = next++;
            }
        }
    }

    /* flatten */
    label_t dense = 0;
    for (label_t i = 1; i < next; ++i)
        parent[i] = parent[i] == i ? ++dense : parent[parent[i]];

    for (n = 0; n < dense; ++n)
        blobs[n] = (struct blob){ 0, COLS, ROWS, 0, 0, 0, 0 };
    for (size_t i = 0; i < (size_t)ROWS * COLS; ++i)
    {
        if (!labels[i]) continue;
        struct blob *b = &blobs[(labels[i] = parent[labels[i]]) - 1];
        unsigned short x = (unsigned short)(i % COLS), y = (unsigned short)(i / COLS);
        b->area++;
        b->sx += x;
        b->sy += y;
        if (x < b->x0) b->x0 = x;
        if (x > b->x1) b->x1 = x;
        if (y < b->y0) b->y0 = y;
        if (y > b->y1) b->y1 = y;
    }

    for (n = kept = 0; n < dense; ++n)
        if (blobs[n].area >= minArea)
            blobs[kept++] = blobs[n];
    return kept;
}
