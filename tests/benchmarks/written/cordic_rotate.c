#include <stdint.h>
#pragma simfoundry range angle=-100000:100000

/* Sine and cosine of angles in Q16 radians by CORDIC, 16 steps. */
static const int32_t atan_table[16] = {
    51472, 30386, 16055, 8150, 4091, 2047, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2,
};

void cordic_rotate(const int32_t angle[24], int32_t sine[24], int32_t cosine[24])
{
    for (int n = 0; n < 24; n++) {
        int32_t x = 39797, y = 0, z = angle[n];
        for (int i = 0; i < 16; i++) {
            int32_t dx = y >> i, dy = x >> i;
            if (z >= 0) {
                x -= dx;
                y += dy;
                z -= atan_table[i];
            } else {
                x += dx;
                y -= dy;
                z += atan_table[i];
            }
        }
        cosine[n] = x;
        sine[n] = y;
    }
}
