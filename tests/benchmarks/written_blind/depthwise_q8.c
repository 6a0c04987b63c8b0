#include <stdint.h>
#define C 3
#define S 8
static const int32_t multiplier[C] = {1340, 987, 1611};

static int8_t saturate(int32_t v) { return v > 127 ? 127 : v < -128 ? -128 : (int8_t)v; }

/* Depthwise 3x3 on quantised channels, requantised per channel. */
void depthwise_q8(const int8_t in[C][S][S], const int8_t w[C][3][3], const int16_t bias[C], int8_t out[C][S - 2][S - 2])
{
    for (int c = 0; c < C; c++)
        for (int y = 0; y < S - 2; y++)
            for (int x = 0; x < S - 2; x++) {
                int32_t acc = bias[c];
                for (int ky = 0; ky < 3; ky++)
                    for (int kx = 0; kx < 3; kx++)
                        acc += in[c][y + ky][x + kx] * w[c][ky][kx];
                out[c][y][x] = saturate((acc * multiplier[c] + (1 << 18)) >> 19);
            }
}
