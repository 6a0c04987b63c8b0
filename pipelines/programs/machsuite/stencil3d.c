/* Seven-point stencil on a box; its faces are copied. 64-bit sums of 32-bit values, rounded by a shift. */
#include <stdint.h>

#ifndef ROWS
#define ROWS 6
#endif
#ifndef COLUMNS
#define COLUMNS 6
#endif
#ifndef HEIGHT
#define HEIGHT 8
#endif

void stencil3d(int64_t c0, int64_t c1, int32_t from[HEIGHT][COLUMNS][ROWS], int32_t to[HEIGHT][COLUMNS][ROWS])
{
    for (int i = 0; i < HEIGHT; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            for (int k = 0; k < ROWS; k++) {
                int inside = i > 0 && i < HEIGHT - 1 && j > 0 && j < COLUMNS - 1 && k > 0 && k < ROWS - 1;

                if (!inside) {
                    to[i][j][k] = from[i][j][k];
                } else {
                    int64_t around = (int64_t)from[i + 1][j][k] + from[i - 1][j][k] + from[i][j + 1][k] +
                                     from[i][j - 1][k] + from[i][j][k + 1] + from[i][j][k - 1];

                    to[i][j][k] = (int32_t)((c0 * from[i][j][k] + c1 * around) >> 16);
                }
            }
        }
    }
}
