// Linear algebra over GF(2), 32 columns to a word.
//
// Brings the matrix to reduced row echelon form and writes a basis of its null
// space. Used to find parity relations among captured frames: every basis
// vector says which columns XOR to zero.
#include <stdint.h>

#ifndef ROWS
#define ROWS 40
#endif
#ifndef WORDS
#define WORDS 2
#endif

#define COLS (32 * WORDS)

static uint32_t mat[ROWS][WORDS];
static int      lead[ROWS];         // column of the leading one

#define BIT(row, c) (((row)[(c) >> 5] >> ((c) & 31)) & 1u)

static unsigned weight(uint32_t v)
{
    v -= (v >> 1) & 0x55555555u;
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    v = (v + (v >> 4)) & 0x0F0F0F0Fu;
    return (v * 0x01010101u) >> 24;
}

static int echelon(void)
{
    int rank = 0;

    for (int c = 0; c < COLS && rank < ROWS; c++) {
        int r = rank;
        while (r < ROWS && !BIT(mat[r], c))
            r++;
        if (r == ROWS)
            continue;

        for (int w = 0; w < WORDS && r != rank; w++) {
            mat[r][w]    ^= mat[rank][w];   // swap, the old way
            mat[rank][w] ^= mat[r][w];
            mat[r][w]    ^= mat[rank][w];
        }
        for (r = 0; r < ROWS; r++) {
            if (r == rank || !BIT(mat[r], c))
                continue;
            for (int w = c >> 5; w < WORDS; w++)
                mat[r][w] ^= mat[rank][w];
        }
        lead[rank++] = c;
    }
    return rank;
}

// returns the dimension of the null space, *lightest is the smallest number
// of columns in one of the basis vectors (0: there are none)
int nullspace(const uint32_t *rows, uint32_t (*basis)[WORDS], unsigned *lightest)
{
    int n = 0, next = 0;

    for (int r = 0; r < ROWS; r++)
        for (int w = 0; w < WORDS; w++)
            mat[r][w] = *rows++;

    const int rank = echelon();
    *lightest = 0;

    for (int c = 0; c < COLS; c++) {
        if (next < rank && lead[next] == c) {
            next++;
            continue;
        }

        uint32_t *v = basis[n++];
        unsigned ones = 0;

        for (int w = 0; w < WORDS; w++)
            v[w] = 0;
        v[c >> 5] |= 1u << (c & 31);
        for (int r = 0; r < next; r++)
            if (BIT(mat[r], c))
                v[lead[r] >> 5] |= 1u << (lead[r] & 31);

        for (int w = 0; w < WORDS; w++)
            ones += weight(v[w]);
        if (*lightest == 0 || ones < *lightest)
            *lightest = ones;
    }
    return n;
}
