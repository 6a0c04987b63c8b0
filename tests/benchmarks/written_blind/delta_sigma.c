#include <stdint.h>
/* Second-order delta-sigma modulator: 16-bit samples to a bit stream, 8 bits a sample. */
#pragma simfoundry range pcm=-20000:20000
void delta_sigma(const int16_t pcm[24], uint8_t bits[24])
{
    int32_t i1 = 0, i2 = 0;
    for (int n = 0; n < 24; n++) {
        uint8_t word = 0;
        for (int b = 0; b < 8; b++) {
            int32_t feedback = i2 >= 0 ? 32767 : -32768;
            i1 += pcm[n] - feedback;
            i2 += i1 - 2 * feedback;
            if (i1 > (1 << 20)) i1 = 1 << 20;
            if (i1 < -(1 << 20)) i1 = -(1 << 20);
            if (i2 > (1 << 22)) i2 = 1 << 22;
            if (i2 < -(1 << 22)) i2 = -(1 << 22);
            word = (uint8_t)((word << 1) | (i2 >= 0));
        }
        bits[n] = word;
    }
}
