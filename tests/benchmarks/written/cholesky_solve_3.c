#include <math.h>
#pragma simfoundry range a=0.1:1.0 b=-1.0:1.0

/* Solves ten symmetric 3x3 systems; the diagonal is strengthened so that they are definite. */
void cholesky_solve_3(const float a[10][6], const float b[10][3], float x[10][3])
{
    for (int n = 0; n < 10; n++) {
        float l00 = sqrtf(a[n][0] + 4.0f);
        float l10 = a[n][1] / l00, l20 = a[n][3] / l00;
        float l11 = sqrtf(a[n][2] + 4.0f - l10 * l10);
        float l21 = (a[n][4] - l20 * l10) / l11;
        float l22 = sqrtf(a[n][5] + 4.0f - l20 * l20 - l21 * l21);

        float y0 = b[n][0] / l00;
        float y1 = (b[n][1] - l10 * y0) / l11;
        float y2 = (b[n][2] - l20 * y0 - l21 * y1) / l22;

        x[n][2] = y2 / l22;
        x[n][1] = (y1 - l21 * x[n][2]) / l11;
        x[n][0] = (y0 - l10 * x[n][1] - l20 * x[n][2]) / l00;
    }
}
