#include <stdint.h>

/* Binary neural layer: matching bits of weights and activations. */
void popcount_matrix(const uint32_t w[16][4], const uint32_t act[4], uint8_t out[16])
{
    for (int r = 0; r < 16; r++) {
        int ones = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t x = ~(w[r][k] ^ act[k]);
            x -= (x >> 1) & 0x55555555u;
            x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
            x = (x + (x >> 4)) & 0x0f0f0f0fu;
            ones += (int)((x * 0x01010101u) >> 24);
        }
        out[r] = (uint8_t)ones;
    }
}
