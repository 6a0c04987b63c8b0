#include <stdint.h>
#include <stdbool.h>
#ifndef V
#define V 90
#endif
#ifndef E
#define E 300
#endif

struct edge { uint16_t u, v; uint32_t w; };

static uint16_t parent[V];

static uint16_t find(uint16_t x)
{
    while (parent[x] != x) {
        parent[x] = parent[parent[x]];
        x = parent[x];
    }
    return x;
}

/* Minimum spanning forest; ties go to the lower edge number. chosen[] is a bit set. */
uint64_t msf_boruvka(const uint16_t *ends, const uint16_t *weight, uint32_t *chosen)
{
    struct edge list[E];
    int cheapest[V];
    uint64_t total = 0;
    int alive = E;
    bool merged;

    for (int i = 0; i < E; i++)
        list[i] = (struct edge){ ends[2 * i], ends[2 * i + 1], (uint32_t)weight[i] << 12 | (uint32_t)i };
    for (int i = 0; i < (E + 31) / 32; i++) chosen[i] = 0;
    for (int i = 0; i < V; i++) parent[i] = (uint16_t)i;

    do {
        int keep = 0;
        merged = false;
        for (int i = 0; i < V; i++) cheapest[i] = -1;
        for (int i = 0; i < alive; i++) {
            uint16_t a = find(list[i].u), b = find(list[i].v);
            if (a == b) continue;                    /* inner edge: drop it for good */
            list[keep] = (struct edge){ a, b, list[i].w };
            if (cheapest[a] < 0 || list[cheapest[a]].w > list[keep].w) cheapest[a] = keep;
            if (cheapest[b] < 0 || list[cheapest[b]].w > list[keep].w) cheapest[b] = keep;
            keep++;
        }
        alive = keep;
        for (int i = 0; i < V; i++) {
            if (cheapest[i] < 0) continue;
            struct edge *e = &list[cheapest[i]];
            uint16_t a = find(e->u), b = find(e->v);
            if (a == b) continue;
            parent[a] = b;
            total += e->w >> 12;
            chosen[(e->w & 4095) >> 5] |= 1u << (e->w & 31);
            merged = true;
        }
    } while (merged);
    return total;
}
