#include <stdint.h>
#ifndef CW
#define CW 32
#endif
#ifndef CH
#define CH 12
#endif
#ifndef DMAX
#define DMAX 8
#endif

/* census 5x5 (24 bit) signature */
static uint32_t census(const uint8_t *im, int x, int y)
{
    uint32_t s = 0;
    uint8_t c = im[y * CW + x];
    for (int j = y - 2; j <= y + 2; j++)
        for (int i = x - 2; i <= x + 2; i++) {
            if (i == x && j == y) continue;
            s = s << 1 | (im[j * CW + i] < c);
        }
    return s;
}

static unsigned pop(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    return v * 0x01010101u >> 24;
}

/* one scanline direction (left to right) of semi-global aggregation, winner takes all,
 * with a uniqueness test. Disparity 255: unknown. */
unsigned sgm_row(const uint8_t *left, const uint8_t *right, uint8_t *disp, unsigned p1, unsigned p2)
{
    static uint32_t cl[CH][CW], cr[CH][CW];
    unsigned valid = 0;

    for (int y = 2; y < CH - 2; y++)
        for (int x = 2; x < CW - 2; x++) {
            cl[y][x] = census(left, x, y);
            cr[y][x] = census(right, x, y);
        }

    for (int i = 0; i < CW * CH; i++) disp[i] = 255;

    for (int y = 2; y < CH - 2; y++) {
        unsigned L[2][DMAX], minprev = 0;
        int cur = 0;
        for (int d = 0; d < DMAX; d++) L[1][d] = 0;

        for (int x = 2 + DMAX - 1; x < CW - 2; x++, cur ^= 1) {
            const unsigned *prev = L[cur ^ 1];
            unsigned m1 = ~0u, m2 = ~0u;
            int arg = 0;
            for (int d = 0; d < DMAX; d++) {
                unsigned best = prev[d];
                if (d > 0 && prev[d - 1] + p1 < best) best = prev[d - 1] + p1;
                if (d < DMAX - 1 && prev[d + 1] + p1 < best) best = prev[d + 1] + p1;
                if (minprev + p2 < best) best = minprev + p2;
                unsigned v = pop(cl[y][x] ^ cr[y][x - d]) + best - minprev;
                L[cur][d] = v;
                if (v < m1) { m2 = m1; m1 = v; arg = d; }
                else if (v < m2) m2 = v;
            }
            minprev = m1;
            if (16 * m1 <= 15 * m2) {
                disp[y * CW + x] = (uint8_t)arg;
                valid++;
            }
        }
    }
    return valid;
}
