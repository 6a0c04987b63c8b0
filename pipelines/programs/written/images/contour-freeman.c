/* contours (outer ones and those of holes) as Freeman chain codes, plus area (Green) and perimeter in 1/64 pixel */
#include <string.h>
#ifndef N
#define N 32
#endif
#ifndef CHAIN
#define CHAIN 512
#endif

enum { E, NE, NO, NW, WE, SW, SO, SE };
static const int DX[8] = { 1, 1, 0, -1, -1, -1, 0, 1 };
static const int DY[8] = { 0, -1, -1, -1, 0, 1, 1, 1 };

typedef struct contour {
    int x0, y0;
    int first, length;     /* into chain[] */
    int area2;             /* twice the signed area */
    int perim64;
} contour;

static unsigned char g[N + 2][N + 2];     /* with a frame; 1 set, 2 traced */

static int trace(int x, int y, unsigned char *chain, int room, contour *c)
{
    int dir = NE, len = 0, sx = x, sy = y, firstdir = -1;

    c->area2 = c->perim64 = 0;
    for (;;) {
        int k, d = 0; 
        for (k = 0; k < 8; k++) {             /* clockwise, from the first neighbour not yet known */
            d = (dir + 1 + (dir & 1) - k + 8) & 7;
            if (g[y + DY[d]][x + DX[d]])
                break;
        }
        if (k == 8)
            break;                            /* isolated point */
        if (x == sx && y == sy) {
            if (firstdir < 0)
                firstdir = d;
            else if (d == firstdir)
                break;                        /* Jacob's criterion */
        }
        if (len == room)
            return -1;
        g[y][x] = 2;
        chain[len++] = (unsigned char)d;
        c->area2 += x * DY[d] - y * DX[d];
        c->perim64 += d & 1 ? 91 : 64;
        x += DX[d];
        y += DY[d];
        dir = d;
    }
    g[sy][sx] = 2;
    return len;
}

int find_contours(const int *grey, int level, unsigned char *chain, contour *out, int maxout)
{
    int n = 0, pos = 0;

    memset(g, 0, sizeof g);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            g[y + 1][x + 1] = grey[y * N + x] > level;

    for (int y = 1; y <= N; y++) {
        int inside = 0;
        for (int x = 1; x <= N; x++) {
            if (!g[y][x]) { inside = 0; continue; }
            if (g[y][x] == 2) inside = 1;
            if (inside || g[y][x - 1]) { inside = 1; continue; }
            if (n == maxout)
                return n;
            int len = trace(x, y, chain + pos, CHAIN - pos, &out[n]);
            if (len < 0)
                return -n;
            out[n].x0 = x - 1;
            out[n].y0 = y - 1;
            out[n].first = pos;
            out[n].length = len;
            pos += len;
            n++;
        }
    }
    return n;
}
