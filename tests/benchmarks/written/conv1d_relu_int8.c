#include <stdint.h>

/* Quantised convolution, two channels in and four out, width 3, with requantisation. */
void conv1d_relu_int8(const int8_t in[2][34], const int8_t w[4][2][3], const int32_t bias[4], int8_t out[4][32])
{
    for (int o = 0; o < 4; o++) {
        for (int x = 0; x < 32; x++) {
            int32_t acc = bias[o] >> 16;
            for (int c = 0; c < 2; c++)
                for (int k = 0; k < 3; k++)
                    acc += w[o][c][k] * in[c][x + k];
            acc = (acc * 77 + (1 << 12)) >> 13;
            out[o][x] = (int8_t)(acc < 0 ? 0 : acc > 127 ? 127 : acc);
        }
    }
}
