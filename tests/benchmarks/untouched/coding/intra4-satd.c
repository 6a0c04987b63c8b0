#include <stdint.h>

#ifndef BW
#define BW 6     // blocks in a row
#endif
#ifndef BH
#define BH 5
#endif
#define WIDTH (4 * BW)
#define HEIGHT (4 * BH)
#define NMODES 6

// edge[0..3] left column, bottom to top; edge[4] corner; edge[5..8] top; edge[9..12] top right
typedef void (*predictor)(uint8_t p[4][4], const uint8_t *edge);

static inline uint8_t clip_pixel(int v) { return v & ~255 ? (uint8_t)(~v >> 31) : (uint8_t)v; }
static inline int avg3(int a, int b, int c) { return (a + 2 * b + c + 2) >> 2; }

static void pred_dc(uint8_t p[4][4], const uint8_t *e) {
    int s = 4;
    for (int i = 0; i < 4; i++) s += e[i] + e[5 + i];
    for (int i = 0; i < 16; i++) p[i / 4][i % 4] = (uint8_t)(s >> 3);
}
static void pred_vertical(uint8_t p[4][4], const uint8_t *e) {
    for (int i = 0; i < 16; i++) p[i / 4][i % 4] = e[5 + i % 4];
}
static void pred_horizontal(uint8_t p[4][4], const uint8_t *e) {
    for (int i = 0; i < 16; i++) p[i / 4][i % 4] = e[3 - i / 4];
}
static void pred_gradient(uint8_t p[4][4], const uint8_t *e) {
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) p[y][x] = clip_pixel(e[3 - y] + e[5 + x] - e[4]);
}
static void pred_down_left(uint8_t p[4][4], const uint8_t *e) {
    const uint8_t *t = e + 5;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) {
            int k = x + y;
            p[y][x] = (uint8_t)avg3(t[k], t[k + 1], t[k + 2 > 7 ? 7 : k + 2]);
        }
}
static void pred_down_right(uint8_t p[4][4], const uint8_t *e) {
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) p[y][x] = (uint8_t)avg3(e[3 + x - y], e[4 + x - y], e[5 + x - y]);
}

static const predictor predictors[NMODES] = {
    pred_dc, pred_vertical, pred_horizontal, pred_gradient, pred_down_left, pred_down_right,
};

static void hadamard4(int m[16]) {
    for (int pass = 0; pass < 2; pass++) {
        int along = pass ? 4 : 1, across = pass ? 1 : 4;
        for (int i = 0; i < 4; i++) {
            int *v = m + i * across;
            int a = v[0] + v[2 * along], b = v[along] + v[3 * along];
            int c = v[0] - v[2 * along], d = v[along] - v[3 * along];
            v[0] = a + b;
            v[along] = a - b;
            v[2 * along] = c + d;
            v[3 * along] = c - d;
        }
    }
}

static void gather_edge(uint8_t (*rec)[WIDTH], int x, int y, uint8_t edge[13]) {
    for (int i = 0; i < 4; i++) {
        edge[i] = x ? rec[y + 3 - i][x - 1] : 129;
        edge[5 + i] = y ? rec[y - 1][x + i] : 127;
        edge[9 + i] = !y ? 127 : x + 4 < WIDTH ? rec[y - 1][x + 4 + i] : rec[y - 1][x + 3];
    }
    edge[4] = x && y ? rec[y - 1][x - 1] : x ? 127 : y ? 129 : 128;
}

// Chooses a mode for every block by transformed difference, codes the rest with
// step `q`, and reconstructs. Returns the squared error of the picture.
unsigned long encode_intra(uint8_t (*src)[WIDTH], uint8_t (*rec)[WIDTH], uint8_t (*modes)[BW],
                           int q, int lambda) {
    unsigned long sse = 0;
    for (int by = 0; by < BH; by++) {
        for (int bx = 0; bx < BW; bx++) {
            const int x0 = 4 * bx, y0 = 4 * by;
            uint8_t edge[13], best_pred[4][4] = {{0}};
            int best_coef[16] = {0}, best_cost = 1 << 30, best = 0;
            int up = by ? modes[by - 1][bx] : 0, left = bx ? modes[by][bx - 1] : 0;
            int likely = up < left ? up : left;

            gather_edge(rec, x0, y0, edge);
            for (int m = 0; m < NMODES; m++) {
                uint8_t p[4][4];
                int c[16], cost = 0;
                predictors[m](p, edge);
                for (int i = 0; i < 16; i++) c[i] = src[y0 + (i >> 2)][x0 + (i & 3)] - p[i >> 2][i & 3];
                hadamard4(c);
                for (int i = 0; i < 16; i++) cost += c[i] < 0 ? -c[i] : c[i];
                cost = cost / 2 + lambda * (m == likely ? 1 : 4);
                if (cost < best_cost) {
                    best_cost = cost;
                    best = m;
                    for (int i = 0; i < 16; i++) {
                        best_coef[i] = c[i];
                        best_pred[i >> 2][i & 3] = p[i >> 2][i & 3];
                    }
                }
            }
            modes[by][bx] = (uint8_t)best;

            for (int i = 0; i < 16; i++) {
                int step = 4 * q, a = best_coef[i] < 0 ? -best_coef[i] : best_coef[i];
                int level = (a + step / 3) / step;
                best_coef[i] = best_coef[i] < 0 ? -level * step : level * step;
            }
            hadamard4(best_coef);
            for (int i = 0; i < 16; i++) {
                int y = y0 + i / 4, x = x0 + i % 4, d;
                rec[y][x] = clip_pixel(best_pred[i / 4][i % 4] + ((best_coef[i] + 8) >> 4));
                d = src[y][x] - rec[y][x];
                sse += (unsigned long)(d * d);
            }
        }
    }
    return sse;
}
