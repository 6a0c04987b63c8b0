#include <stdint.h>
#include <stddef.h>
#ifndef NODES
#define NODES 200
#endif
#ifndef QUERIES
#define QUERIES 150
#endif
#ifndef LOG
#define LOG 8      /* 2^LOG >= NODES */
#endif

typedef struct {
    uint16_t up[LOG];
    uint16_t depth;
    int32_t  sum;       // weights from the root
    int32_t  lightest;  // least edge weight towards up[0]
} tnode;

static tnode tree[NODES];

/* jump tables of least edges, parallel to up[] */
static int32_t least[NODES][LOG];

static void build(const uint32_t *draw, const int32_t *weight)
{
    for (int k = 0; k < LOG; k++) { tree[0].up[k] = 0; least[0][k] = INT32_MAX; }
    tree[0].depth = 0; tree[0].sum = 0; tree[0].lightest = INT32_MAX;

    for (uint32_t v = 1; v < NODES; v++) {
        uint32_t reach = v < 12 ? v : 12;
        uint16_t p = (uint16_t)(v - 1 - draw[v] % reach);   /* parent among the last twelve */
        tree[v].depth = (uint16_t)(tree[p].depth + 1);
        tree[v].sum = tree[p].sum + weight[v];
        tree[v].lightest = weight[v];
        tree[v].up[0] = p;
        least[v][0] = weight[v];
        for (int k = 1; k < LOG; k++) {
            uint16_t mid = tree[v].up[k - 1];
            tree[v].up[k] = tree[mid].up[k - 1];
            least[v][k] = least[v][k - 1] < least[mid][k - 1] ? least[v][k - 1] : least[mid][k - 1];
        }
    }
}

static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

/* for each pair: length of the path and its lightest edge */
int64_t tree_paths(const uint32_t *draw, const int32_t *weight, const uint16_t (*pair)[2], int32_t (*result)[2])
{
    int64_t all = 0;
    build(draw, weight);
    for (size_t q = 0; q < QUERIES; q++) {
        uint16_t a = pair[q][0], b = pair[q][1];
        int32_t thin = INT32_MAX, len = tree[a].sum + tree[b].sum;
        if (tree[a].depth < tree[b].depth) { uint16_t t = a; a = b; b = t; }
        unsigned diff = tree[a].depth - tree[b].depth;
        for (int k = 0; diff; diff >>= 1, k++)
            if (diff & 1) { thin = min32(thin, least[a][k]); a = tree[a].up[k]; }
        if (a != b) {
            for (int k = LOG - 1; k >= 0; k--)
                if (tree[a].up[k] != tree[b].up[k]) {
                    thin = min32(thin, min32(least[a][k], least[b][k]));
                    a = tree[a].up[k];
                    b = tree[b].up[k];
                }
            thin = min32(thin, min32(tree[a].lightest, tree[b].lightest));
            a = tree[a].up[0];
        }
        result[q][0] = len - 2 * tree[a].sum;
        result[q][1] = thin;
        all += result[q][0];
    }
    return all;
}
