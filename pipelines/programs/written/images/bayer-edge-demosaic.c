#include <stdint.h>

#ifndef IMG_W
#define IMG_W 32
#endif
#ifndef IMG_H
#define IMG_H 24
#endif

/* RGGB raw -> RGB, green by Hamilton-Adams gradient choice, then colour differences.
 * Borders (2 pixels) are filled by clamped coordinates. */

typedef struct { uint8_t r, g, b; } rgb8;

static int px(const uint16_t *raw, int x, int y)
{
    /* reflect so that the Bayer phase stays the same */
    if (x < 0) x = -x;
    if (y < 0) y = -y;
    if (x >= IMG_W) x = 2 * (IMG_W - 1) - x;
    if (y >= IMG_H) y = 2 * (IMG_H - 1) - y;
    return raw[y * IMG_W + x];
}

static int absdiff(int a, int b) { return a > b ? a - b : b - a; }

static int green_at(const uint16_t *raw, int x, int y)
{
    if ((x ^ y) & 1)
        return px(raw, x, y);
    int c = 2 * px(raw, x, y);
    int l = px(raw, x - 1, y), r = px(raw, x + 1, y), u = px(raw, x, y - 1), d = px(raw, x, y + 1);
    int ch = c - px(raw, x - 2, y) - px(raw, x + 2, y);
    int cv = c - px(raw, x, y - 2) - px(raw, x, y + 2);
    int gh = absdiff(l, r) + (ch < 0 ? -ch : ch);
    int gv = absdiff(u, d) + (cv < 0 ? -cv : cv);
    if (gh < gv) return (2 * (l + r) + ch) / 4;
    if (gv < gh) return (2 * (u + d) + cv) / 4;
    return (2 * (l + r + u + d) + ch + cv) / 8;
}

static uint8_t to8(int v)           /* 10 bit linear to 8 bit */
{
    v >>= 2;
    return v < 0 ? 0 : v > 255 ? 255 : (uint8_t)v;
}

void demosaic(const uint16_t raw[IMG_W * IMG_H], rgb8 out[IMG_W * IMG_H])
{
    for (int y = 0; y < IMG_H; y++) {
        for (int x = 0; x < IMG_W; x++) {
            int g = green_at(raw, x, y);
            int a, b;                 /* a: colour of even row sites, b: other */
            if (!((x ^ y) & 1)) {
                a = px(raw, x, y);
                int s = 0;
                for (int dy = -1; dy <= 1; dy += 2)
                    for (int dx = -1; dx <= 1; dx += 2)
                        s += px(raw, x + dx, y + dy) - green_at(raw, x + dx, y + dy);
                b = g + s / 4;
            } else {
                a = g + (px(raw, x - 1, y) - green_at(raw, x - 1, y) + px(raw, x + 1, y) - green_at(raw, x + 1, y)) / 2;
                b = g + (px(raw, x, y - 1) - green_at(raw, x, y - 1) + px(raw, x, y + 1) - green_at(raw, x, y + 1)) / 2;
            }
            rgb8 *o = &out[y * IMG_W + x];
            int red_row = !(y & 1);
            o->r = to8(red_row ? a : b);
            o->b = to8(red_row ? b : a);
            o->g = to8(g);
        }
    }
}
