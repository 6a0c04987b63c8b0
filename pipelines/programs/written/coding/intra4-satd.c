#include <stdint.h>
#include <string.h>

#ifndef NB
#define NB 6        /* blocks along each side */
#endif
#define PITCH (4 * NB)

typedef uint8_t pel;

/* neighbourhood of a 4x4 block: e[0..3] left from bottom to top, e[4] corner, e[5..12] top */
static void edges(const pel *s, int bx, int by, pel e[13])
{
    for (int i = 0; i < 4; ++i) e[i] = bx ? s[(3 - i) * PITCH - 1] : 128;
    e[4] = bx && by ? s[-PITCH - 1] : 128;
    for (int i = 0; i < 4; ++i) e[5 + i] = by ? s[i - PITCH] : 128;
    for (int i = 4; i < 8; ++i) e[5 + i] = by && bx + 1 < NB ? s[i - PITCH] : e[8];
}

#define F3(k) ((e[(k) - 1] + 2 * e[k] + e[(k) + 1] + 2) >> 2)
#define F2(k) ((e[k] + e[(k) + 1] + 1) >> 1)

static void predict(int mode, const pel e[13], int bx, int by, pel p[16])
{
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) {
            int v = 0;
            switch (mode) {
            case 0: v = e[5 + x]; break;                                  /* vertical */
            case 1: v = e[3 - y]; break;                                  /* horizontal */
            case 2: {                                                     /* DC */
                int t = e[5] + e[6] + e[7] + e[8], l = e[0] + e[1] + e[2] + e[3];
                v = bx && by ? (t + l + 4) >> 3 : by ? (t + 2) >> 2 : bx ? (l + 2) >> 2 : 128;
                break;
            }
            case 3: v = x + y == 6 ? (e[11] + 3 * e[12] + 2) >> 2 : F3(6 + x + y); break; /* down left */
            case 4: v = F3(4 + x - y); break;                             /* down right */
            case 5: {                                                     /* plane like */
                int a = 2 * (e[8] - e[4]) + (e[7] - e[5]), b = 2 * (e[0] - e[4]) + (e[1] - e[3]);
                v = 8 * (e[8] + e[0]) + (2 * x - 3) * a + (2 * y - 3) * b;
                v = (v + 8) >> 4;
                v = v < 0 ? 0 : v > 255 ? 255 : v;
                break;
            }
            case 6: v = F2(5 + (x + y > 6 ? 6 : x + y)); break;           /* half way */
            }
            p[4 * y + x] = (pel)v;
        }
}

static int satd(const pel *s, const pel p[16])
{
    int d[16], sum = 0;
    for (int i = 0; i < 16; ++i) d[i] = s[(i >> 2) * PITCH + (i & 3)] - p[i];
    for (int pass = 0; pass < 2; ++pass) {
        int st = pass ? 4 : 1, nx = pass ? 1 : 4;
        for (int i = 0, *q = d; i < 4; ++i, q += nx) {
            int a = q[0] + q[st], b = q[0] - q[st], c = q[2 * st] + q[3 * st], f = q[2 * st] - q[3 * st];
            q[0] = a + c; q[st] = b + f; q[2 * st] = a - c; q[3 * st] = b - f;
        }
    }
    for (int i = 0; i < 16; ++i) sum += d[i] < 0 ? -d[i] : d[i];
    return sum >> 1;
}

/* open loop decision; neighbour modes give the cheap "most probable" one */
int intra_decide(const pel luma[PITCH * PITCH], uint8_t modes[NB * NB], int lambda, unsigned hist[7])
{
    int total = 0;
    memset(hist, 0, 7 * sizeof *hist);
    for (int by = 0; by < NB; ++by)
        for (int bx = 0; bx < NB; ++bx) {
            const pel *s = luma + by * 4 * PITCH + bx * 4;
            pel e[13], p[16];
            int ml = bx ? modes[by * NB + bx - 1] : 2, mt = by ? modes[(by - 1) * NB + bx] : 2;
            int mpm = ml < mt ? ml : mt, best = 1 << 30, pick = 2;
            edges(s, bx, by, e);
            for (int m = 0; m < 7; ++m) {
                if ((m == 0 && !by) || (m == 1 && !bx) || (m == 4 && !(bx && by))) continue;
                predict(m, e, bx, by, p);
                int cost = satd(s, p) + lambda * (m == mpm ? 1 : 4);
                if (cost < best) { best = cost; pick = m; }
            }
            modes[by * NB + bx] = (uint8_t)pick;
            hist[pick]++;
            total += best;
        }
    return total;
}
