#include <stdint.h>

#ifndef BLOCKS
#define BLOCKS 60
#endif

/* Immediate dominators of a control flow graph in which each block has up to two
 * successors; block 0 is the entry. Iterative scheme of Cooper, Harvey, Kennedy,
 * afterwards dominance frontier sizes and the loop depth by back edges. */
#define UNDEF (-1)

struct block {
    int succ[2];
    int rpo;            /* reverse postorder number, -1: unreachable */
    int idom;
};

static struct block cfg[BLOCKS];
static int by_rpo[BLOCKS];

static int number_blocks(void)
{
    int stack[BLOCKS], edge[BLOCKS], sp = 0, n = BLOCKS, reached;
    uint8_t seen[BLOCKS] = {0};
    stack[sp] = 0; edge[sp++] = 0; seen[0] = 1;
    while (sp > 0) {
        int b = stack[sp - 1];
        if (edge[sp - 1] < 2) {
            int s = cfg[b].succ[edge[sp - 1]++];
            if (s != UNDEF && !seen[s]) { seen[s] = 1; stack[sp] = s; edge[sp++] = 0; }
        } else {
            by_rpo[--n] = b;
            sp--;
        }
    }
    reached = BLOCKS - n;
    for (int i = 0; i < reached; i++) by_rpo[i] = by_rpo[i + n];
    for (int i = 0; i < reached; i++) cfg[by_rpo[i]].rpo = i;
    return reached;
}

static int intersect(int a, int b)
{
    while (a != b) {
        while (cfg[a].rpo > cfg[b].rpo) a = cfg[a].idom;
        while (cfg[b].rpo > cfg[a].rpo) b = cfg[b].idom;
    }
    return a;
}

static int dominates(int a, int b)
{
    while (cfg[b].rpo > cfg[a].rpo) b = cfg[b].idom;
    return a == b;
}

int build_dominators(const int16_t *succ1, const int16_t *succ2, int *idom, int *frontier, int *headers)
{
    int reached, changed, sweeps = 0;
    for (int b = 0; b < BLOCKS; b++) {
        /* small numbers far away are folded: mostly forward edges near by */
        cfg[b].succ[0] = b + 1 < BLOCKS ? b + 1 + succ1[b] % 3 : UNDEF;
        if (cfg[b].succ[0] >= BLOCKS) cfg[b].succ[0] = BLOCKS - 1;
        cfg[b].succ[1] = succ2[b] < BLOCKS ? succ2[b] : UNDEF;
        cfg[b].rpo = cfg[b].idom = UNDEF;
        frontier[b] = headers[b] = 0;
    }
    reached = number_blocks();
    cfg[0].idom = 0;
    do {
        changed = 0;
        for (int i = 0; i < reached; i++)
            for (int e = 0; e < 2; e++) {          /* push along out-edges */
                int b = by_rpo[i], s = cfg[b].succ[e], d;
                if (s == UNDEF || s == 0 || cfg[b].idom == UNDEF) continue;
                d = cfg[s].idom == UNDEF ? b : intersect(b, cfg[s].idom);
                if (d != cfg[s].idom) { cfg[s].idom = d; changed = 1; }
            }
        sweeps++;
    } while (changed);

    for (int i = 0; i < reached; i++) {
        int b = by_rpo[i];
        for (int e = 0; e < 2; e++) {
            int s = cfg[b].succ[e], run = b;
            if (s == UNDEF) continue;
            if (dominates(s, b)) headers[s]++;     /* back edge */
            while (run != cfg[s].idom && run != 0) { frontier[run]++; run = cfg[run].idom; }
        }
    }
    for (int b = 0; b < BLOCKS; b++) idom[b] = cfg[b].idom;
    return reached * 100 + sweeps;
}
