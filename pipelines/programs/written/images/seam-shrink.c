#include <limits.h>
#ifndef W0
#define W0 32
#endif
#ifndef H0
#define H0 24
#endif
#ifndef CUT
#define CUT 5
#endif

/* narrow a gray image by CUT columns, removing the cheapest vertical seam each time.
 * forward energy (Rubinstein): cost of the new neighbours, not of the removed pixel */

static int cost[H0][W0];
static signed char from[H0][W0];

static int ad(int a, int b) { int d = a - b; return d < 0 ? -d : d; }

long seam_shrink(unsigned char *img)    /* row pitch stays W0 */
{
    long total = 0;
    int w;

    for (w = W0; w > W0 - CUT; w--) {
        for (int y = 0; y < H0; y++) {
            unsigned char *r = img + y * W0;
            for (int x = 0; x < w; x++) {
                int l = x ? r[x - 1] : r[x], q = x + 1 < w ? r[x + 1] : r[x];
                int cu = ad(l, q);
                if (!y) {
                    cost[0][x] = cu;
                    from[0][x] = 0;
                    continue;
                }
                int up = r[x - W0];
                int best = cost[y - 1][x] + cu, dir = 0;
                if (x) {
                    int c = cost[y - 1][x - 1] + cu + ad(up, l);
                    if (c < best) { best = c; dir = -1; }
                }
                if (x + 1 < w) {
                    int c = cost[y - 1][x + 1] + cu + ad(up, q);
                    if (c < best) { best = c; dir = 1; }
                }
                cost[y][x] = best;
                from[y][x] = (signed char)dir;
            }
        }

        int at = 0, min = INT_MAX;
        for (int x = 0; x < w; x++)
            if (cost[H0 - 1][x] < min) { min = cost[H0 - 1][x]; at = x; }
        total += min;

        for (int y = H0 - 1; y >= 0; y--) {
            unsigned char *p = img + y * W0 + at, *e = img + y * W0 + w - 1;
            for (; p < e; p++) p[0] = p[1];
            *e = 0;
            at += from[y][at];
        }
    }
    return total;
}
