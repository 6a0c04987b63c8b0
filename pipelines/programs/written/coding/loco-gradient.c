/* Lossless/near-lossless scan, LOCO-I style: contexts from quantised gradients, bias cancellation,
 * Golomb parameter per context. Only lengths are counted, no bit stream. Reconstruction kept, since
 * with near > 0 the neighbours are the decoder's. */
#include <stdint.h>
#include <stdlib.h>

#ifndef COLS
#define COLS 40
#endif
#ifndef ROWS
#define ROWS 24
#endif
#define NCTX 365

typedef struct tagContext { int nA, nB, nC, nN; } Context;

static Context ctx[NCTX];

static int quantGradient(int g, int near)
{
    static const int t[3] = { 3, 7, 21 };
    int a = abs(g), q = 4;
    if (a <= near) return 0;
    for (int k = 2; k >= 0; k--)
        if (a < t[k] + (k + 1) * near) q = k + 1;
    return g < 0 ? -q : q;
}

unsigned long locoScan(const uint8_t *src, uint8_t *rec, int near)
{
    unsigned long bits = 0;
    const int step = 2 * near + 1, range = (255 + 2 * near) / step + 1;

    for (int i = 0; i < NCTX; i++)
        ctx[i] = (Context){ (range + 32) / 64 < 2 ? 2 : (range + 32) / 64, 0, 0, 1 };

    for (int y = 0; y < ROWS; y++) {
        for (int x = 0; x < COLS; x++) {
            uint8_t *r = rec + y * COLS + x;
            int b = y ? r[-COLS] : 0;
            int a = x ? r[-1] : b;
            int c = x && y ? r[-COLS - 1] : y > 1 && !x ? r[-2 * COLS] : 0;
            int d = y ? (x + 1 < COLS ? r[1 - COLS] : b) : 0;

            int idx = 81 * quantGradient(d - b, near) + 9 * quantGradient(b - c, near) + quantGradient(c - a, near);
            int sign = idx < 0 ? -1 : 1;
            Context *k = &ctx[abs(idx)];

            int px = c >= (a > b ? a : b) ? (a < b ? a : b) : c <= (a < b ? a : b) ? (a > b ? a : b) : a + b - c;
            px += sign * k->nC;
            px = px < 0 ? 0 : px > 255 ? 255 : px;

            int e = sign * (src[y * COLS + x] - px);
            e = e > 0 ? (e + near) / step : -((near - e) / step);
            int v = px + sign * e * step;
            *r = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);

            if (e < 0) e += range;
            if (e >= (range + 1) / 2) e -= range;

            int g = 0;
            while ((k->nN << g) < k->nA && g < 15) g++;
            unsigned m = e >= 0 ? 2u * (unsigned)e : 2u * (unsigned)-e - 1;
            unsigned q = m >> g;
            bits += q < 23 ? q + 1 + (unsigned)g : 23 + 9;      /* escape: plain value */

            k->nB += e * step;
            k->nA += abs(e);
            if (k->nN == 64) { k->nA >>= 1; k->nB = k->nB >= 0 ? k->nB >> 1 : -((1 - k->nB) >> 1); k->nN >>= 1; }
            k->nN++;
            if (k->nB <= -k->nN) {
                k->nB += k->nN;
                if (k->nC > -128) k->nC--;
                if (k->nB <= -k->nN) k->nB = -k->nN + 1;
            } else if (k->nB > 0) {
                k->nB -= k->nN;
                if (k->nC < 127) k->nC++;
                if (k->nB > 0) k->nB = 0;
            }
        }
    }
    return bits;
}
