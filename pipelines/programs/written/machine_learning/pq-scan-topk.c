/* Product quantisation: distance tables for one query, scan of the codes,
   the TOP nearest kept in a small binary max-heap. */
#include <stdint.h>

#ifndef SUBS
#define SUBS 4
#endif
#ifndef CENT
#define CENT 16
#endif
#ifndef VECS
#define VECS 256
#endif
#ifndef TOP
#define TOP 10
#endif
#define SUBDIM 4

struct hit { uint32_t dist; uint16_t id; };

static void sift_down(struct hit *h, unsigned n, unsigned i)
{
    struct hit x = h[i];
    for (;;) {
        unsigned c = 2 * i + 1;
        if (c >= n) break;
        if (c + 1 < n && h[c + 1].dist > h[c].dist) c++;
        if (h[c].dist <= x.dist) break;
        h[i] = h[c];
        i = c;
    }
    h[i] = x;
}

void pq_search(const uint8_t *query, const uint8_t *codebook, const uint8_t *codes,
               uint16_t *ids, uint32_t *dists)
{
    uint32_t lut[SUBS][CENT];
    struct hit heap[TOP];
    unsigned i, n = TOP;

    for (unsigned s = 0; s < SUBS; s++)
        for (unsigned c = 0; c < CENT; c++) {
            const uint8_t *q = query + s * SUBDIM, *p = codebook + (s * CENT + c) * SUBDIM;
            uint32_t acc = 0;
            for (unsigned d = 0; d < SUBDIM; d++) {
                int diff = (int)q[d] - (int)p[d];
                acc += (uint32_t)(diff * diff);
            }
            lut[s][c] = acc;
        }

    for (i = 0; i < TOP; i++) { heap[i].dist = UINT32_MAX; heap[i].id = 0xFFFF; }

    for (i = 0; i < VECS; i++) {
        const uint8_t *code = codes + i * SUBS;
        uint32_t d = 0;
        unsigned s = 0;
        do {
            d += lut[s][code[s] % CENT];
        } while (++s < SUBS && d < heap[0].dist);    /* early abandon */
        if (d >= heap[0].dist) continue;
        heap[0].dist = d;
        heap[0].id = (uint16_t)i;
        sift_down(heap, TOP, 0);
    }

    while (n > 0) {             /* heap order to ascending order */
        n--;
        ids[n] = heap[0].id;
        dists[n] = heap[0].dist;
        heap[0] = heap[n];
        sift_down(heap, n ? n : 1, 0);
    }
}
