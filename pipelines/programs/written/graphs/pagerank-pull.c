#include <math.h>
#ifndef PAGES
#define PAGES 80
#endif
#ifndef LINKS
#define LINKS 400
#endif
#ifndef ROUNDS
#define ROUNDS 25
#endif

/* in-links in CSR form: in_src[in_ptr[v] .. in_ptr[v+1]) point at v */
int pagerank(const int in_ptr[PAGES + 1], const int in_src[LINKS], float damping, float tol, float rank[PAGES])
{
    static int   outdeg[PAGES];
    static float share[PAGES];
    int it, v, e;

    for (v = 0; v < PAGES; ++v) { outdeg[v] = 0; rank[v] = 1.0f / PAGES; }
    for (e = 0; e < LINKS; ++e) ++outdeg[in_src[e]];

    for (it = 0; it < ROUNDS; ++it) {
        float dangling = 0.0f, change = 0.0f, base;
        for (v = 0; v < PAGES; ++v)
            if (outdeg[v]) share[v] = rank[v] / (float)outdeg[v];
            else { share[v] = 0.0f; dangling += rank[v]; }
        base = (1.0f - damping) / PAGES + damping * dangling / PAGES;
        for (v = 0; v < PAGES; ++v) {
            float s = 0.0f, c = 0.0f;            /* Kahan, order of links is arbitrary */
            for (e = in_ptr[v]; e < in_ptr[v + 1]; ++e) {
                float y = share[in_src[e]] - c, t = s + y;
                c = (t - s) - y;
                s = t;
            }
            s = base + damping * s;
            change += fabsf(s - rank[v]);
            rank[v] = s;
        }
        if (change < tol) break;
    }
    return it;
}
