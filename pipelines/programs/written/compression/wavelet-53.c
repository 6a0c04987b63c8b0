#include <stdint.h>
#ifndef DIM
#define DIM 32       // power of two
#endif
#ifndef LEVELS
#define LEVELS 3
#endif

typedef int32_t i32;

static inline i32 half(i32 v)    { return v >= 0 ? v / 2 : -((1 - v) / 2); }          // floor
static inline i32 quarter(i32 v) { return v >= 0 ? v / 4 : -((3 - v) / 4); }

// one reversible 5/3 lifting step on n samples, stride apart
static void lift53(i32 *x, int n, int stride)
{
    i32 line[DIM];
    int h = n / 2;

    for (int i = 0; i < n; i++) line[i] = x[i * stride];
    for (int i = 1; i < n; i += 2) {
        i32 right = i + 1 < n ? line[i + 1] : line[i - 1];
        line[i] -= half(line[i - 1] + right);
    }
    for (int i = 0; i < n; i += 2) {
        i32 left = i ? line[i - 1] : line[1];
        line[i] += quarter(left + line[i + 1] + 2);
    }
    for (int i = 0; i < h; i++) {
        x[i * stride] = line[2 * i];
        x[(h + i) * stride] = line[2 * i + 1];
    }
}

// is any coefficient below (r,c) in the quad tree significant at this threshold?
static int tree_significant(i32 (*img)[DIM], int r, int c, i32 thr)
{
    int size = 2;
    r *= 2; c *= 2;
    while (r < DIM && c < DIM) {
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                i32 v = img[r + i][c + j];
                if (v >= thr || -v >= thr) return 1;
            }
        r *= 2; c *= 2; size *= 2;
    }
    return 0;
}

// counts per bit plane: [0] significant, [1] zero tree roots, [2] isolated zeros
void wavelet_planes(i32 img[DIM][DIM], uint16_t stat[8][3])
{
    for (int lev = 0, n = DIM; lev < LEVELS; lev++, n /= 2) {
        for (int r = 0; r < n; r++) lift53(img[r], n, 1);
        for (int c = 0; c < n; c++) lift53(&img[0][c], n, DIM);
    }

    for (int plane = 0; plane < 8; plane++) {
        i32 thr = (i32)1 << plane;
        stat[plane][0] = stat[plane][1] = stat[plane][2] = 0;
        int edge = DIM >> LEVELS;
        // scan the coarse detail bands only: their descendants are judged as trees
        for (int r = 0; r < 2 * edge; r++)
            for (int c = 0; c < 2 * edge; c++) {
                if (r < edge && c < edge) continue;
                i32 v = img[r][c];
                if (v >= thr || v <= -thr) stat[plane][0]++;
                else if (!tree_significant(img, r, c, thr)) stat[plane][1]++;
                else stat[plane][2]++;
            }
    }
}
