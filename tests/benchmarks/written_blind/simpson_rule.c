#include <math.h>
/* Integral of exp(-a x^2) by Simpson's rule, four parameters. */
#pragma simfoundry range a=0.5:3.0
void simpson_rule(const float a[4], float area[4])
{
    const float h = 2.0f / 16;
    for (int p = 0; p < 4; p++) {
        float s = 0.0f;
        for (int i = 0; i <= 16; i++) {
            float x = i * h;
            float f = expf(-a[p] * x * x);
            s += i == 0 || i == 16 ? f : i & 1 ? 4.0f * f : 2.0f * f;
        }
        area[p] = s * h / 3.0f;
    }
}
