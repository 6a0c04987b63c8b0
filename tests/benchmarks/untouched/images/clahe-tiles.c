#include <stdint.h>

#ifndef TILES_X
#define TILES_X 3
#endif
#ifndef TILES_Y
#define TILES_Y 2
#endif
#ifndef TILE
#define TILE 16
#endif

enum { WIDTH = TILES_X * TILE, HEIGHT = TILES_Y * TILE, BINS = 64, AREA = TILE * TILE };

static uint16_t hist[BINS];
static uint8_t  lut[TILES_Y][TILES_X][BINS];

/* Cut the peaks of the histogram at limit, spread what was cut evenly. */
static void clip(unsigned limit)
{
    unsigned excess = 0, share, rest, step, b;

    for (b = 0; b < BINS; ++b) {
        if (hist[b] > limit) {
            excess += hist[b] - limit;
            hist[b] = (uint16_t)limit;
        }
    }
    share = excess / BINS;
    rest  = excess % BINS;
    for (b = 0; b < BINS; ++b)
        hist[b] = (uint16_t)(hist[b] + share);
    if (rest) {
        step = BINS / rest;
        for (b = 0; rest; b += step, --rest)
            ++hist[b];
    }
}

static void build_lut(const uint8_t *corner, unsigned limit, uint8_t *out)
{
    unsigned b, sum = 0;

    for (b = 0; b < BINS; ++b)
        hist[b] = 0;
    for (unsigned y = 0; y < TILE; ++y, corner += WIDTH)
        for (unsigned x = 0; x < TILE; ++x)
            ++hist[corner[x] >> 2];
    clip(limit);
    for (b = 0; b < BINS; ++b) {
        sum += hist[b];
        out[b] = (uint8_t)(sum * 255u / AREA);
    }
}

/* Contrast limited adaptive equalisation, result replaces the image. */
void clahe(uint8_t image[HEIGHT * WIDTH], unsigned limit)
{
    for (int ty = 0; ty < TILES_Y; ++ty)
        for (int tx = 0; tx < TILES_X; ++tx)
            build_lut(&image[ty * TILE * WIDTH + tx * TILE], limit, lut[ty][tx]);

    for (int y = 0; y < HEIGHT; ++y) {
        /* position between the tile centres, fraction in 1/(2*TILE) */
        int py = 2 * y + 1 - TILE;
        int y0 = py < 0 ? 0 : py / (2 * TILE);
        int fy = py < 0 ? 0 : py % (2 * TILE);
        int y1 = y0 + 1 < TILES_Y ? y0 + 1 : y0;

        for (int x = 0; x < WIDTH; ++x) {
            int px = 2 * x + 1 - TILE;
            int x0 = px < 0 ? 0 : px / (2 * TILE);
            int fx = px < 0 ? 0 : px % (2 * TILE);
            int x1 = x0 + 1 < TILES_X ? x0 + 1 : x0;
            int v  = image[y * WIDTH + x] >> 2;

            int upper = lut[y0][x0][v] * (2 * TILE - fx) + lut[y0][x1][v] * fx;
            int lower = lut[y1][x0][v] * (2 * TILE - fx) + lut[y1][x1][v] * fx;
            int sum   = upper * (2 * TILE - fy) + lower * fy;

            image[y * WIDTH + x] = (uint8_t)((sum + 2 * AREA) / (4 * AREA));
        }
    }
}
