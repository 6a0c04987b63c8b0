#include <stdint.h>
#include <stddef.h>

#ifndef TILE
#define TILE 16
#endif
#ifndef TX
#define TX 3
#endif
#ifndef TY
#define TY 2
#endif
#define BINS 64
#define IW (TILE * TX)
#define IH (TILE * TY)

/* contrast limited adaptive equalisation: clipped histograms per tile,
   redistribution of the excess, bilinear blend of four mappings */

typedef uint8_t map_t[BINS];

static map_t maps[TY][TX];

static void build_map(const uint8_t *tile, unsigned clip, map_t map) {
    unsigned h[BINS] = {0};
    unsigned excess, guard = 0;

    for (size_t y = 0; y < TILE; y++, tile += IW)
        for (size_t x = 0; x < TILE; x++)
            h[tile[x] >> 2]++;

    do {
        excess = 0;
        for (int b = 0; b < BINS; b++)
            if (h[b] > clip) {
                excess += h[b] - clip;
                h[b] = clip;
            }
        unsigned each = excess / BINS, rest = excess % BINS;
        for (unsigned b = 0; b < BINS; b++)
            h[b] += each + (b * rest / BINS != (b + 1) * rest / BINS);
    } while (excess > BINS && ++guard < 8);

    unsigned cum = 0;
    for (int b = 0; b < BINS; b++) {
        cum += h[b];
        map[b] = (uint8_t)(cum * 255u / (TILE * TILE));
    }
}

void clahe(const uint8_t *src, uint8_t *dst, unsigned clip) {
    for (int ty = 0; ty < TY; ty++)
        for (int tx = 0; tx < TX; tx++)
            build_map(src + ty * TILE * IW + tx * TILE, clip, maps[ty][tx]);

    for (int y = 0; y < IH; y++) {
        int fy = 2 * y + 1 - TILE;                     /* doubled, from first centre */
        int ty0 = fy < 0 ? 0 : fy / (2 * TILE), wy = fy < 0 ? 0 : fy % (2 * TILE);
        int ty1 = ty0 + 1 < TY ? ty0 + 1 : ty0;
        for (int x = 0; x < IW; x++) {
            int fx = 2 * x + 1 - TILE;
            int tx0 = fx < 0 ? 0 : fx / (2 * TILE), wx = fx < 0 ? 0 : fx % (2 * TILE);
            int tx1 = tx0 + 1 < TX ? tx0 + 1 : tx0;
            int b = src[y * IW + x] >> 2;
            int top = maps[ty0][tx0][b] * (2 * TILE - wx) + maps[ty0][tx1][b] * wx;
            int bot = maps[ty1][tx0][b] * (2 * TILE - wx) + maps[ty1][tx1][b] * wx;
            dst[y * IW + x] = (uint8_t)((top * (2 * TILE - wy) + bot * wy) / (4 * TILE * TILE));
        }
    }
}
