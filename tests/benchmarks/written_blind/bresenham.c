#include <stdint.h>
/* Draws six line segments into a 32 by 32 bitmap, a word per row. */
static void line(uint32_t fb[32], int x0, int y0, int x1, int y1)
{
    int dx = x1 > x0 ? x1 - x0 : x0 - x1;
    int dy = y1 > y0 ? y0 - y1 : y1 - y0;
    int sx = x0 < x1 ? 1 : -1;
    int sy = y0 < y1 ? 1 : -1;
    int err = dx + dy;
    for (;;) {
        fb[y0] |= 1u << x0;
        if (x0 == x1 && y0 == y1)
            break;
        int e2 = 2 * err;
        if (e2 >= dy) {
            err += dy;
            x0 += sx;
        }
        if (e2 <= dx) {
            err += dx;
            y0 += sy;
        }
    }
}

#pragma simfoundry range ends=0:32
void bresenham(const int ends[6][4], uint32_t fb[32])
{
    for (int i = 0; i < 32; i++)
        fb[i] = 0;
    for (int s = 0; s < 6; s++)
        line(fb, ends[s][0], ends[s][1], ends[s][2], ends[s][3]);
}
