#include <stdint.h>
#ifndef CELLS
#define CELLS 32
#endif
#ifndef PIXELS
#define PIXELS 200
#endif

/* One-dimensional self-organising map over RGB pixels (colour palette).
   Fixed point: cells in Q4, radius and rate fall with the pixel count. */
typedef uint8_t  u8;
typedef int32_t  s32;
typedef struct rgb { s32 c[3]; } rgb;

static s32 absdiff(s32 a, s32 b) { return a > b ? a - b : b - a; }

static int winner(const rgb net[], const s32 bias[], const s32 px[3])
{
    int best = 0; s32 bestd = INT32_MAX;
    for (int i = 0; i < CELLS; ++i)
    {
        s32 d = absdiff(net[i].c[0], px[0]);
        if (d - bias[i] >= bestd) continue;
        d += absdiff(net[i].c[1], px[1]) + absdiff(net[i].c[2], px[2]) - bias[i];
        if (d < bestd) { bestd = d; best = i; }
    }
    return best;
}

static void pull(rgb *cell, const s32 px[3], s32 rate)       /* rate in 1/1024 */
{
    for (int k = 0; k < 3; ++k)
        cell->c[k] += (px[k] - cell->c[k]) * rate / 1024;
}

void som_learn_palette(const u8 pixels[PIXELS][3], u8 palette[CELLS][3], u8 *mapped)
{
    rgb net[CELLS];
    s32 bias[CELLS];
    int i, k;

    for (i = 0; i < CELLS; ++i) {
        for (k = 0; k < 3; ++k) net[i].c[k] = (i << 12) / CELLS;
        bias[i] = 0;
    }

    int p = 0;
    do {
        s32 px[3] = { pixels[p][0] << 4, pixels[p][1] << 4, pixels[p][2] << 4 };
        s32 rate = 512 - 480 * p / PIXELS;
        int radius = (CELLS / 8) * (PIXELS - p) / PIXELS;
        int w = winner(net, bias, px);

        bias[w] -= 64;                       /* conscience: frequent winners pay */
        for (i = 0; i < CELLS; ++i) bias[i] += 64 / CELLS;
        pull(&net[w], px, rate);
        for (int r = 1; r <= radius; ++r) {
            s32 a = rate * (radius * radius - r * r + 1) / (radius * radius + 1);
            if (w - r >= 0)    pull(&net[w - r], px, a);
            if (w + r < CELLS) pull(&net[w + r], px, a);
        }
    } while (++p < PIXELS);

    for (i = 0; i < CELLS; ++i) {
        bias[i] = 0;
        for (k = 0; k < 3; ++k) {
            s32 v = (net[i].c[k] + 8) >> 4;
            palette[i][k] = v > 255 ? 255 : v < 0 ? 0 : (u8)v;
        }
    }
    for (p = 0; p < PIXELS; ++p) {
        s32 px[3] = { pixels[p][0] << 4, pixels[p][1] << 4, pixels[p][2] << 4 };
        mapped[p] = (u8)winner(net, bias, px);
    }
}
