#include <stdint.h>
#include <stddef.h>

#ifndef NV
#define NV 100
#endif
#ifndef NE
#define NE 500
#endif

#define DELTA     8
#define MAXW      20            /* weights 1..MAXW */
#define NBUCKETS  (MAXW / DELTA + 2)
#define UNREACHED UINT32_MAX

/* Single-source shortest paths by delta stepping with cyclic buckets.
 * Buckets are doubly linked lists threaded through the vertices. */
static int16_t bucket_head[NBUCKETS];
static int16_t link_next[NV], link_prev[NV];
static int16_t where[NV];                     /* bucket of the vertex, -1: none */

static void unlink_vertex(int v)
{
    if (where[v] < 0) return;
    if (link_prev[v] >= 0) link_next[link_prev[v]] = link_next[v];
    else bucket_head[where[v]] = link_next[v];
    if (link_next[v] >= 0) link_prev[link_next[v]] = link_prev[v];
    where[v] = -1;
}

static void push_vertex(int v, uint32_t d)
{
    int b = (int)(d / DELTA % NBUCKETS);
    unlink_vertex(v);
    link_next[v] = bucket_head[b];
    link_prev[v] = -1;
    if (bucket_head[b] >= 0) link_prev[bucket_head[b]] = (int16_t)v;
    bucket_head[b] = (int16_t)v;
    where[v] = (int16_t)b;
}

int sssp_delta(const int32_t *row, const int32_t *col, const uint8_t *weight, int source, uint32_t *dist)
{
    int16_t settled[NV];
    uint8_t seen[NV];
    int idle = 0, phase = 0;

    for (int v = 0; v < NV; v++) { dist[v] = UNREACHED; where[v] = -1; }
    for (int b = 0; b < NBUCKETS; b++) bucket_head[b] = -1;
    dist[source] = 0;
    push_vertex(source, 0);

    for (int b = 0; idle < NBUCKETS; b = (b + 1) % NBUCKETS) {
        int nset = 0;
        if (bucket_head[b] < 0) { idle++; continue; }
        idle = 0;
        phase++;
        for (int v = 0; v < NV; v++) seen[v] = 0;
        while (bucket_head[b] >= 0) {          /* light edges until the bucket is dry */
            int v = bucket_head[b];
            unlink_vertex(v);
            if (!seen[v]) { seen[v] = 1; settled[nset++] = (int16_t)v; }
            for (int e = row[v]; e < row[v + 1]; e++) {
                uint32_t d = dist[v] + weight[e];
                if (weight[e] <= DELTA && d < dist[col[e]]) {
                    dist[col[e]] = d;
                    push_vertex(col[e], d);
                }
            }
        }
        for (int i = 0; i < nset; i++) {       /* then the heavy ones, once */
            int v = settled[i];
            for (int e = row[v]; e < row[v + 1]; e++) {
                uint32_t d = dist[v] + weight[e];
                if (weight[e] > DELTA && d < dist[col[e]]) {
                    dist[col[e]] = d;
                    push_vertex(col[e], d);
                }
            }
        }
    }
    return phase;
}
