#include <math.h>
/* Upper triangle of a 5 by 3 matrix and the rotated right side. */
#pragma simfoundry range A=-3.0:3.0
#pragma simfoundry range b=-3.0:3.0
void givens_qr(float A[5][3], float b[5])
{
    for (int c = 0; c < 3; c++)
        for (int r = 4; r > c; r--) {
            float x = A[r - 1][c], y = A[r][c];
            float h = sqrtf(x * x + y * y);
            if (h == 0.0f)
                continue;
            float cs = x / h, sn = y / h;
            for (int k = c; k < 3; k++) {
                float u = A[r - 1][k], v = A[r][k];
                A[r - 1][k] = cs * u + sn * v;
                A[r][k] = cs * v - sn * u;
            }
            float u = b[r - 1], v = b[r];
            b[r - 1] = cs * u + sn * v;
            b[r] = cs * v - sn * u;
        }
}
