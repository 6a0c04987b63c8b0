#include <stdint.h>

#ifndef DEPTH
#define DEPTH 6
#endif
#ifndef LEAVES
#define LEAVES 64       /* 1 << DEPTH */
#endif
#ifndef UPDATES
#define UPDATES 20
#endif

typedef uint32_t word;
typedef struct { word w[4]; } digest;

/* heap order: node 1 is the root, leaves from LEAVES on */
static digest node[2 * LEAVES];

static word rol(word x, int n) { return (x << n) | (x >> (32 - n)); }

/* compression: ARX permutation over left||right, feed-forward by xor */
static digest compress(const digest *l, const digest *r, word domain)
{
    word s[8];
    digest d;
    for (int i = 0; i < 4; i++) { s[i] = l->w[i]; s[i + 4] = r->w[i]; }
    s[7] ^= domain;
    for (int round = 0; round < 6; round++) {
        for (int c = 0; c < 4; c++) {
            int e = (c + round) & 3;
            s[c] += s[4 + e];
            s[4 + e] = rol(s[4 + e] ^ s[c], 7 + 4 * (round & 1));
            s[(c + 1) & 3] ^= rol(s[c], 13);
        }
        s[0] += 0x243f6a88u + (word)round;
    }
    for (int i = 0; i < 4; i++) d.w[i] = s[i] ^ s[i + 4] ^ l->w[i];
    return d;
}

static void leaf_set(unsigned i, word v)
{
    digest a = {{ v, ~v, i, 0 }}, z = {{ 0, 0, 0, 1 }};
    node[LEAVES + i] = compress(&a, &z, 0x4c454146u);
}

/*
 * Build the tree over `values`, apply the updates one by one (only the path to
 * the root is recomputed), and note bits of the root after each of them.
 * Finally writes the audit path of leaf `audit`.
 */
void merkle_replay(const word values[LEAVES], const uint16_t where[UPDATES],
                   const word what[UPDATES], word roots[UPDATES],
                   unsigned audit, word path[DEPTH][4])
{
    unsigned i;

    for (i = 0; i < LEAVES; i++)
        leaf_set(i, values[i]);
    for (i = LEAVES - 1; i > 0; i--)
        node[i] = compress(&node[2 * i], &node[2 * i + 1], i);

    for (unsigned u = 0; u < UPDATES; u++) {
        i = where[u] % LEAVES;
        leaf_set(i, what[u]);
        for (i = (i + LEAVES) >> 1; i; i >>= 1)
            node[i] = compress(&node[2 * i], &node[2 * i + 1], i);
        roots[u] = node[1].w[0] ^ node[1].w[3];
    }

    i = LEAVES + audit % LEAVES;
    for (int d = 0; d < DEPTH; d++, i >>= 1)
        for (int k = 0; k < 4; k++)
            path[d][k] = node[i ^ 1].w[k];
}
