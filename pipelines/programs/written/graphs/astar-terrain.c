#include <stdint.h>
#include <string.h>

#ifndef WIDTH
#define WIDTH 24
#endif
#ifndef HEIGHT
#define HEIGHT 20
#endif

#define CELLS    (WIDTH * HEIGHT)
#define STRAIGHT 10
#define DIAGONAL 14
#define BLOCKED  9                /* terrain from here on cannot be entered */

typedef struct { uint32_t f; uint16_t cell; } open_t;

static open_t   heap[CELLS * 8 + 1];
static int      heapLen;
static uint32_t gCost[CELLS];
static uint16_t cameFrom[CELLS];
static uint8_t  closed[CELLS];

static void heapPush(uint32_t f, uint16_t cell)
{
    int i = heapLen++;
    while (i > 0 && heap[(i - 1) / 2].f > f) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i].f = f;
    heap[i].cell = cell;
}

static uint16_t heapPop(void)
{
    uint16_t ret = heap[0].cell;
    open_t last = heap[--heapLen];
    int i = 0, c;
    while ((c = 2 * i + 1) < heapLen) {
        if (c + 1 < heapLen && heap[c + 1].f < heap[c].f) c++;
        if (heap[c].f >= last.f) break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = last;
    return ret;
}

static uint32_t octile(int x, int y, int tx, int ty)
{
    int dx = x > tx ? x - tx : tx - x, dy = y > ty ? y - ty : ty - y;
    int mn = dx < dy ? dx : dy;
    return (uint32_t)(STRAIGHT * (dx + dy) - (2 * STRAIGHT - DIAGONAL) * mn);
}

/* Path from top left to bottom right. terrain 0..8: a step costs (terrain + 1)-fold.
   Cells of the path are marked in track; returns the cost, 0 if there is none. */
uint32_t findPath(const uint8_t terrain[HEIGHT][WIDTH], uint8_t track[HEIGHT][WIDTH], uint32_t *expanded)
{
    memset(closed, 0, sizeof closed);
    memset(track, 0, CELLS);
    memset(gCost, 0xFF, sizeof gCost);
    heapLen = 0;
    *expanded = 0;
    gCost[0] = 0;
    heapPush(octile(0, 0, WIDTH - 1, HEIGHT - 1), 0);

    while (heapLen > 0) {
        uint16_t cur = heapPop();
        int cx = cur % WIDTH, cy = cur / WIDTH;

        if (closed[cur]) continue;
        closed[cur] = 1;
        ++*expanded;
        if (cur == CELLS - 1) {
            uint16_t c = cur;
            for (track[cy][cx] = 1; c != 0; ) {
                c = cameFrom[c];
                track[c / WIDTH][c % WIDTH] = 1;
            }
            return gCost[cur];
        }
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = cx + dx, y = cy + dy;
                if (!(dx | dy) || x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT) continue;
                if (terrain[y][x] >= BLOCKED) continue;
                /* no cutting of corners */
                if (dx && dy && (terrain[cy][x] >= BLOCKED || terrain[y][cx] >= BLOCKED)) continue;
                uint16_t nb = (uint16_t)(y * WIDTH + x);
                uint32_t g = gCost[cur] + (dx && dy ? DIAGONAL : STRAIGHT) * (uint32_t)(terrain[y][x] + 1) ;
                if (closed[nb] || g >= gCost[nb]) continue;
                gCost[nb] = g;
                cameFrom[nb] = cur;
                heapPush(g + octile(x, y, WIDTH - 1, HEIGHT - 1), nb);
            }
    }
    return 0;
}
