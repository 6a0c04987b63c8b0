#include <stdint.h>

#ifndef REFW
#define REFW 64
#endif
#ifndef REFH
#define REFH 48
#endif
#ifndef BS
#define BS 8
#endif
#define BX ((REFW - 2 * BS) / BS)
#define BY ((REFH - 2 * BS) / BS)

typedef struct { int16_t x, y; } mv_t;

static const mv_t large[8] = { {0,-2},{1,-1},{2,0},{1,1},{0,2},{-1,1},{-2,0},{-1,-1} };
static const mv_t small[4] = { {0,-1},{1,0},{0,1},{-1,0} };

static uint32_t sad(const uint8_t *a, const uint8_t *b, uint32_t limit)
{
    uint32_t s = 0;
    for (int y = 0; y < BS; y++, a += REFW, b += REFW) {
        for (int x = 0; x < BS; x++)
            s += (uint32_t)(a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]);
        if (s >= limit) return UINT32_MAX;
    }
    return s;
}

static int median3(int a, int b, int c)
{
    if (a > b) { int t = a; a = b; b = t; }
    return c < a ? a : c > b ? b : c;
}

static uint32_t mvbits(int d)
{
    uint32_t n = 1, u = (uint32_t)(d < 0 ? -d : d) * 2;
    while (u) { n += 2; u >>= 1; }
    return n;
}

/* blocks start one block in from the border; vectors stay inside the reference.
   Neighbours left, top, top right predict. Returns total cost. */
uint32_t motion_search(const uint8_t *cur, const uint8_t *ref, mv_t mvs[BX * BY], uint32_t lambda)
{
    uint32_t total = 0;

    for (int by = 0; by < BY; by++)
        for (int bx = 0; bx < BX; bx++) {
            const int ox = (bx + 1) * BS, oy = (by + 1) * BS;
            const uint8_t *c = cur + oy * REFW + ox;
            const mv_t zero = {0, 0};
            mv_t l = bx ? mvs[by * BX + bx - 1] : zero;
            mv_t t = by ? mvs[(by - 1) * BX + bx] : zero;
            mv_t r = by && bx + 1 < BX ? mvs[(by - 1) * BX + bx + 1] : zero;
            mv_t pred = { (int16_t)median3(l.x, t.x, r.x), (int16_t)median3(l.y, t.y, r.y) };
            mv_t best = zero;
            uint32_t cost = sad(c, ref + oy * REFW + ox, UINT32_MAX) + lambda * (mvbits(pred.x) + mvbits(pred.y));

#define TRY(vx, vy) do { \
        int tx = (vx), ty = (vy); \
        if (ox + tx < 0 || oy + ty < 0 || ox + tx > REFW - BS || oy + ty > REFH - BS) break; \
        uint32_t rate = lambda * (mvbits(tx - pred.x) + mvbits(ty - pred.y)); \
        if (rate >= cost) break; \
        uint32_t s_ = sad(c, ref + (oy + ty) * REFW + ox + tx, cost - rate); \
        if (s_ != UINT32_MAX) { cost = s_ + rate; best.x = (int16_t)tx; best.y = (int16_t)ty; } \
    } while (0)

            TRY(pred.x, pred.y);
            for (;;) {
                mv_t centre = best;
                for (int k = 0; k < 8; k++)
                    TRY(centre.x + large[k].x, centre.y + large[k].y);
                if (best.x == centre.x && best.y == centre.y) break;
            }
            mv_t centre = best;
            for (int k = 0; k < 4; k++)
                TRY(centre.x + small[k].x, centre.y + small[k].y);

            mvs[by * BX + bx] = best;
            total += cost;
        }
    return total;
}
