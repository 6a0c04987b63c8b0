#include <stdint.h>
void maxpool_2x2(const int16_t in[16][16], int16_t out[8][8])
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            int16_t m = in[2 * y][2 * x];
            if (in[2 * y][2 * x + 1] > m) m = in[2 * y][2 * x + 1];
            if (in[2 * y + 1][2 * x] > m) m = in[2 * y + 1][2 * x];
            if (in[2 * y + 1][2 * x + 1] > m) m = in[2 * y + 1][2 * x + 1];
            out[y][x] = m;
        }
}
