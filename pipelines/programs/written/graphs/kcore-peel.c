#include <stdint.h>
#ifndef NV
#define NV 100
#endif
#ifndef NE
#define NE 400
#endif
/* core numbers by bucket peeling (undirected edge list -> CSR inside) */

static uint32_t xadj[NV + 1];
static uint32_t adj[2 * NE];

static void build(const uint32_t *a, const uint32_t *b)
{
    uint32_t fill[NV];
    for (uint32_t v = 0; v <= NV; v++) xadj[v] = 0;
    for (uint32_t e = 0; e < NE; e++) {
        if (a[e] == b[e]) continue;
        xadj[a[e] + 1]++;
        xadj[b[e] + 1]++;
    }
    for (uint32_t v = 0; v < NV; v++) { xadj[v + 1] += xadj[v]; fill[v] = xadj[v]; }
    for (uint32_t e = 0; e < NE; e++) {
        if (a[e] == b[e]) continue;
        adj[fill[a[e]]++] = b[e];
        adj[fill[b[e]]++] = a[e];
    }
}

uint32_t kcore(const uint32_t *a, const uint32_t *b, uint32_t *core)
{
    uint32_t vert[NV], pos[NV], bin[NV * 8 + 2], maxdeg = 0;

    build(a, b);
    for (uint32_t v = 0; v < NV; v++) {
        core[v] = xadj[v + 1] - xadj[v];
        if (core[v] > NV * 8) core[v] = NV * 8;
        if (core[v] > maxdeg) maxdeg = core[v];
    }
    for (uint32_t d = 0; d <= maxdeg + 1; d++) bin[d] = 0;
    for (uint32_t v = 0; v < NV; v++) bin[core[v] + 1]++;
    for (uint32_t d = 0; d <= maxdeg; d++) bin[d + 1] += bin[d];
    for (uint32_t v = 0; v < NV; v++) {
        pos[v] = bin[core[v]]++;
        vert[pos[v]] = v;
    }
    for (uint32_t d = maxdeg; d > 0; d--) bin[d] = bin[d - 1];
    bin[0] = 0;

    for (uint32_t i = 0; i < NV; i++) {
        uint32_t v = vert[i];
        for (uint32_t e = xadj[v]; e < xadj[v + 1]; e++) {
            uint32_t u = adj[e];
            if (core[u] <= core[v]) continue;
            uint32_t du = core[u], pu = pos[u], pw = bin[du], w = vert[pw];
            if (u != w) {
                pos[u] = pw; vert[pu] = w;
                pos[w] = pu; vert[pw] = u;
            }
            bin[du]++;
            core[u]--;
        }
    }
    return core[vert[NV - 1]];
}
