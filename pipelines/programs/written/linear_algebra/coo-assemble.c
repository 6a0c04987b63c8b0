#include <stdint.h>
#include <string.h>
#include <stdbool.h>

#ifndef NELEM
#define NELEM 40
#endif
#ifndef NNODE
#define NNODE 50
#endif
#define ENTRIES (9 * NELEM)

/* Finite element assembly: 3 node elements scattered as triplets, radix sorted on (row, col),
 * duplicates added, Dirichlet rows and columns eliminated into the load. Fixed point Q16 stiffness.
 * Output: CSR. */

typedef struct Triplet {
    uint32_t key;      /* row << 16 | col */
    int32_t  val;
} Triplet;

static Triplet ta[ENTRIES], tb[ENTRIES];

static void radix_pass(const Triplet *in, Triplet *out, size_t n, unsigned shift)
{
    uint32_t cnt[257] = {0};
    for (size_t i = 0; i < n; ++i)
        ++cnt[(in[i].key >> shift & 255) + 1];
    for (int b = 0; b < 256; ++b)
        cnt[b + 1] += cnt[b];
    for (size_t i = 0; i < n; ++i)
        out[cnt[in[i].key >> shift & 255]++] = in[i];
}

int fem_assemble(const uint16_t *conn, const int32_t *edge_w, const uint8_t *fixed, const int32_t *prescribed,
                 int32_t *load, uint32_t *rowptr, uint16_t *colidx, int32_t *value)
{
    size_t n = 0;

    for (int e = 0; e < NELEM; ++e, conn += 3, edge_w += 3) {
        if (conn[0] == conn[1] || conn[1] == conn[2] || conn[0] == conn[2])
            continue;                                   /* degenerate */
        for (int k = 0; k < 3; ++k) {
            uint32_t i = conn[k], j = conn[(k + 1) % 3];
            int32_t w = edge_w[k];
            ta[n++] = (Triplet){ i << 16 | i, w };
            ta[n++] = (Triplet){ j << 16 | j, w };
            ta[n++] = (Triplet){ i << 16 | j, -w };
        }
        /* the transposed halves come from the sort key swap below */
    }

    /* symmetrise: off diagonal entries go into the lower triangle first, mirrored at output */
    for (size_t i = 0; i < n; ++i) {
        uint32_t r = ta[i].key >> 16, c = ta[i].key & 0xffff;
        if (r < c) ta[i].key = c << 16 | r;
    }
    radix_pass(ta, tb, n, 0);
    radix_pass(tb, ta, n, 8);
    radix_pass(ta, tb, n, 16);
    radix_pass(tb, ta, n, 24);

    size_t m = 0;
    for (size_t i = 0; i < n; ++i) {
        if (m && ta[m - 1].key == ta[i].key) ta[m - 1].val += ta[i].val;
        else ta[m++] = ta[i];
    }

    memset(rowptr, 0, (NNODE + 1) * sizeof *rowptr);
    size_t kept = 0;
    for (size_t i = 0; i < m; ++i) {
        uint32_t r = ta[i].key >> 16, c = ta[i].key & 0xffff;
        bool fr = fixed[r] == 0, fc = fixed[c] == 0;
        if (r == c) {
            if (fr) { load[r] = prescribed[r]; ta[i].val = 1 << 16; }
        } else if (fr || fc) {
            int32_t v = ta[i].val;
            if (!fr) load[r] -= (int32_t)((int64_t)v * prescribed[c] >> 16);
            if (!fc) load[c] -= (int32_t)((int64_t)v * prescribed[r] >> 16);
            continue;
        }
        ta[kept++] = ta[i];
        rowptr[r + 1]++;
        if (r != c) rowptr[c + 1]++;
    }
    for (int r = 0; r < NNODE; ++r) rowptr[r + 1] += rowptr[r];

    /* by rising row: the lower part of row r, its diagonal, then what later rows mirror into it */
    uint32_t at[NNODE];
    memcpy(at, rowptr, sizeof at);
    for (size_t i = 0; i < kept; ++i) {
        uint32_t r = ta[i].key >> 16, c = ta[i].key & 0xffff;
        colidx[at[r]] = (uint16_t)c;
        value[at[r]++] = ta[i].val;
        if (r != c) {
            colidx[at[c]] = (uint16_t)r;
            value[at[c]++] = ta[i].val;
        }
    }
    return (int)rowptr[NNODE];
}
