#include <stdint.h>
#include <limits.h>

#ifndef STEPS
#define STEPS 96
#endif
#define MODES 6

/*
 * Operating mode of a machine from quantised power readings. Explicit minimum dwell:
 * a mode may be left only after `dwell` steps. Costs are -log2 probabilities in 1/16 bit.
 */

typedef enum mode { OFF, IDLE, WARMUP, RUN, BOOST, COOL } mode_e;

static const uint8_t trans[MODES][MODES] = {
    /*           OFF IDLE WARM RUN BOOST COOL */
    /* OFF    */ {  4,  48, 255, 255, 255, 255 },
    /* IDLE   */ { 64,   4,  48, 112, 255, 255 },
    /* WARMUP */ {112,  96,   5,  40, 255, 128 },
    /* RUN    */ {128, 112, 255,   3,  64,  56 },
    /* BOOST  */ {255, 255, 255,  48,   8,  72 },
    /* COOL   */ { 80,  48, 255, 128, 255,   5 },
};

static const int16_t level[MODES] = { 0, 12, 90, 60, 120, 25 };
static const uint8_t dwell[MODES] = { 3, 2, 4, 2, 2, 4 };

#define MAXDW 4
#define INF (INT32_MAX / 4)

static uint8_t back[STEPS][MODES][MAXDW];      /* predecessor: mode * MAXDW + age */

static int32_t emission(int m, int reading)
{
    int d = reading - level[m];
    if (d < 0) d = -d;
    return d > 60 ? 60 + (d - 60) / 8 : d;
}

int32_t decode_modes(const uint8_t reading[STEPS], uint8_t path[STEPS], uint16_t occupancy[MODES])
{
    int32_t cost[2][MODES][MAXDW];
    int cur = 0;

    for (int m = 0; m < MODES; m++) {
        occupancy[m] = 0;
        for (int a = 0; a < MAXDW; a++)
            cost[0][m][a] = a == 0 && m <= IDLE ? emission(m, reading[0]) : INF;
    }

    for (int t = 1; t < STEPS; t++, cur ^= 1) {
        int nx = cur ^ 1;
        for (int m = 0; m < MODES; m++) {
            int32_t e = emission(m, reading[t]);
            int last = dwell[m] - 1;

            for (int a = 0; a < MAXDW; a++)
                cost[nx][m][a] = INF;
            /* stay: age grows up to the dwell time */
            for (int a = 0; a <= last; a++) {
                int to = a < last ? a + 1 : last;
                int32_t c = cost[cur][m][a] + trans[m][m] + e;
                if (cost[cur][m][a] < INF && c < cost[nx][m][to]) {
                    cost[nx][m][to] = c;
                    back[t][m][to] = (uint8_t)(m * MAXDW + a);
                }
            }
            /* enter from a mode that has served its time */
            for (int p = 0; p < MODES; p++) {
                int pa = dwell[p] - 1;
                int32_t c;
                if (p == m || trans[p][m] == 255 || cost[cur][p][pa] >= INF) continue;
                c = cost[cur][p][pa] + trans[p][m] + e;
                if (c < cost[nx][m][0]) {
                    cost[nx][m][0] = c;
                    back[t][m][0] = (uint8_t)(p * MAXDW + pa);
                }
            }
        }
    }

    int bm = 0, ba = 0;
    for (int m = 0; m < MODES; m++)
        for (int a = 0; a < MAXDW; a++)
            if (cost[cur][m][a] < cost[cur][bm][ba]) { bm = m; ba = a; }
    int32_t best = cost[cur][bm][ba];
    for (int t = STEPS - 1; ; t--) {
        uint8_t b;
        path[t] = (uint8_t)bm;
        occupancy[bm]++;
        if (t == 0) break;
        b = back[t][bm][ba];
        bm = b / MAXDW;
        ba = b % MAXDW;
    }
    return best;
}
