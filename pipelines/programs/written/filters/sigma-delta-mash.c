/* MASH 1-1-1 modulator with LSB dither from an LFSR, followed by a divider ratio stream
   for a fractional-N synthesiser, plus the running phase error of the divider. */
#include <stdint.h>

#ifndef CYCLES
#define CYCLES 400
#endif
#define MODULUS_BITS 18
#define MASK ((1u << MODULUS_BITS) - 1u)

int64_t mash111(uint32_t frac, uint32_t seed, uint8_t nbase, uint8_t *divider, uint32_t hist[8])
{
    uint32_t a1 = 0, a2 = 0, a3 = 0;
    unsigned c2d = 0, c3d = 0, c3dd = 0;
    uint32_t lfsr = seed | 1u;
    int64_t phase = 0, worst = 0;

    for (int i = 0; i < 8; i++)
        hist[i] = 0;

    for (uint8_t *d = divider; d < divider + CYCLES; d++) {
        lfsr = (lfsr >> 1) ^ (0xB4BCD35Cu & (0u - (lfsr & 1u)));

        a1 += (frac & MASK) + (lfsr & 1u);
        unsigned c1 = a1 >> MODULUS_BITS;
        a1 &= MASK;
        a2 += a1;
        unsigned c2 = a2 >> MODULUS_BITS;
        a2 &= MASK;
        a3 += a2;
        unsigned c3 = a3 >> MODULUS_BITS;
        a3 &= MASK;

        /* c1 + (1-z)c2 + (1-z)^2 c3, range -3 .. 4 */
        int y = (int)c1 + (int)c2 - (int)c2d + (int)c3 - 2 * (int)c3d + (int)c3dd;
        c2d = c2;
        c3dd = c3d;
        c3d = c3;

        *d = (uint8_t)(nbase + y);
        hist[y + 3]++;
        phase += (int64_t)y * (1 << MODULUS_BITS) - (int64_t)(frac & MASK);
        int64_t m = phase < 0 ? -phase : phase;
        if (m > worst)
            worst = m;
    }
    return worst;
}
