#include <stdbool.h>
#ifndef LEFT
#define LEFT 50
#endif
#ifndef RIGHT
#define RIGHT 45
#endif
#ifndef EDGES
#define EDGES 140
#endif
#define INF 30000
#define FREE (-1)

static short head[LEFT], nxt[EDGES], layer[LEFT], queue[LEFT], cursor[LEFT];

static bool bfs(const unsigned short to[], const short matchL[], const short matchR[])
{
    int qh = 0, qt = 0;
    bool found = false;
    for (int u = 0; u < LEFT; u++) {
        layer[u] = INF;
        if (matchL[u] == FREE) { layer[u] = 0; queue[qt++] = (short)u; }
    }
    while (qh < qt) {
        int u = queue[qh++];
        for (int e = head[u]; e >= 0; e = nxt[e]) {
            int w = matchR[to[e]];
            if (w == FREE) found = true;
            else if (layer[w] == INF) {
                layer[w] = (short)(layer[u] + 1);
                queue[qt++] = (short)w;
            }
        }
    }
    return found;
}

/* depth first along layers, path kept as edges on a stack */
static bool augment(int root, const unsigned short from[], const unsigned short to[], short matchL[], short matchR[])
{
    static short path[LEFT];
    int depth = 0, u = root;
    for (;;) {
        int e = cursor[u];
        if (e < 0) {                       /* dead end */
            layer[u] = INF;
            if (depth == 0) return false;
            u = from[path[--depth]];
            continue;
        }
        cursor[u] = nxt[e];
        int w = matchR[to[e]];
        if (w == FREE) {
            path[depth++] = (short)e;
            while (depth--) {
                matchL[from[path[depth]]] = (short)to[path[depth]];
                matchR[to[path[depth]]] = (short)from[path[depth]];
            }
            return true;
        }
        if (layer[w] == layer[u] + 1) {
            path[depth++] = (short)e;
            u = w;
        }
    }
}

int max_matching(const unsigned short from[EDGES], const unsigned short to[EDGES], short matchL[LEFT], short matchR[RIGHT])
{
    int size = 0, rounds = 0;
    for (int u = 0; u < LEFT; u++) { head[u] = -1; matchL[u] = FREE; }
    for (int v = 0; v < RIGHT; v++) matchR[v] = FREE;
    for (int e = 0; e < EDGES; e++) { nxt[e] = head[from[e]]; head[from[e]] = (short)e; }

    while (bfs(to, matchL, matchR)) {
        for (int u = 0; u < LEFT; u++) cursor[u] = head[u];
        for (int u = 0; u < LEFT; u++)
            if (matchL[u] == FREE && augment(u, from, to, matchL, matchR)) size++;
        rounds++;
    }
    return size * 100 + rounds;
}
