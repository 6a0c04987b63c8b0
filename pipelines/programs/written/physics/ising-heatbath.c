#include <stdint.h>
#include <math.h>

#ifndef L
#define L 16
#endif
#ifndef SWEEPS
#define SWEEPS 6
#endif

/* Random-field Ising model on an L x L torus, checkerboard heat bath.
   Spins of a row live in one word; random numbers come from outside, one
   16 bit number per site and sweep. */

typedef uint32_t row_t;

static inline int spin(const row_t *s, int r, int c)
{
    return (s[(r + L) % L] >> ((c + L) % L)) & 1u ? 1 : -1;
}

static void flip_table(float beta, const int8_t *field_levels, uint16_t table[3][5])
{
    for (int f = 0; f < 3; f++)
        for (int n = 0; n < 5; n++) {
            float h = (float)(2 * n - 4) + 0.25f * (float)field_levels[f];
            float p = 1.0f / (1.0f + expf(-2.0f * beta * h));
            table[f][n] = (uint16_t)(p * 65535.0f);
        }
}

void ising_run(row_t lattice[L], const uint8_t field[L][L], const int8_t levels[3], float beta,
               const uint16_t rnd[SWEEPS][L][L], int32_t magnet[SWEEPS], int32_t energy[SWEEPS])
{
    uint16_t table[3][5];

    flip_table(beta, levels, table);
    for (int r = 0; r < L; r++)
        lattice[r] &= (L == 32) ? 0xffffffffu : (1u << (L % 32)) - 1u;

    for (int s = 0; s < SWEEPS; s++) {
        for (int colour = 0; colour < 2; colour++)
            for (int r = 0; r < L; r++)
                for (int c = (r + colour) & 1; c < L; c += 2) {
                    int up = spin(lattice, r - 1, c) + spin(lattice, r + 1, c)
                           + spin(lattice, r, c - 1) + spin(lattice, r, c + 1);
                    if (rnd[s][r][c] < table[field[r][c] % 3][(up + 4) / 2])
                        lattice[r] |= 1u << c;
                    else
                        lattice[r] &= ~(1u << c);
                }
        int m = 0, e = 0;
        for (int r = 0; r < L; r++)
            for (int c = 0; c < L; c++) {
                int v = spin(lattice, r, c);
                m += v;
                e -= v * (spin(lattice, r, c + 1) + spin(lattice, r + 1, c));
            }
        magnet[s] = m;
        energy[s] = e;
    }
}
