#include <math.h>
#ifndef STOPS
#define STOPS 24
#endif
#ifndef LIMIT
#define LIMIT 40
#endif

typedef struct { float x, y; } Pos;

static float leg(const Pos *a, const Pos *b) { return sqrtf((a->x - b->x) * (a->x - b->x) + (a->y - b->y) * (a->y - b->y)); }

/* Round trip for the van: nearest neighbour, then 2-opt, then moves of single
 * stops (or-opt), until nothing helps or LIMIT rounds are over. */
float plan_tour(const float *px, const float *py, int *tour)
{
    Pos p[STOPS];
    float d[STOPS][STOPS];
    int seen[STOPS] = {0};
    int i, j, round = 0, better;

    for (i = 0; i < STOPS; i++) { p[i].x = px[i]; p[i].y = py[i]; }
    for (i = 0; i < STOPS; i++) for (j = 0; j < STOPS; j++) d[i][j] = leg(&p[i], &p[j]);

    tour[0] = 0; seen[0] = 1;
    for (i = 1; i < STOPS; i++) {
        int best = -1;
        for (j = 0; j < STOPS; j++)
            if (!seen[j] && (best < 0 || d[tour[i - 1]][j] < d[tour[i - 1]][best])) best = j;
        tour[i] = best;
        seen[best] = 1;
    }

    do {
        better = 0;
        for (i = 0; i < STOPS - 2; i++)
            for (j = i + 2; j < STOPS; j++) {
                int a = tour[i], b = tour[i + 1], c = tour[j], e = tour[(j + 1) % STOPS];
                if (a == e) continue;
                if (d[a][c] + d[b][e] < d[a][b] + d[c][e] - 1e-3f) {
                    for (int l = i + 1, r = j; l < r; l++, r--) { int t = tour[l]; tour[l] = tour[r]; tour[r] = t; }
                    better = 1;
                }
            }
        for (i = 1; i < STOPS - 1; i++) {
            int s = tour[i], a = tour[i - 1], b = tour[i + 1], at = -1;
            float gain = d[a][s] + d[s][b] - d[a][b], best = gain - 1e-3f;
            for (j = 0; j < STOPS; j++) {
                if (j == i || j == i - 1) continue;
                int u = tour[j], v = tour[(j + 1) % STOPS];
                float add = d[u][s] + d[s][v] - d[u][v];
                if (add < best) { best = add; at = j; }
            }
            if (at < 0) continue;
            if (at > i) { for (j = i; j < at; j++) tour[j] = tour[j + 1]; tour[at] = s; }
            else        { for (j = i; j > at + 1; j--) tour[j] = tour[j - 1]; tour[at + 1] = s; }
            better = 1;
        }
    } while (better && ++round < LIMIT);

    float len = 0;
    for (i = 0; i < STOPS; i++) len += d[tour[i]][tour[(i + 1) % STOPS]];
    return len;
}
