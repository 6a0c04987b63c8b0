#include <math.h>
#include <stdio.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

float goertzel(const float *samples, int n, float target, float rate)
{
    float k = 0.5f + n * target / rate;
    float w = (float)(2.0 * M_PI / n) * (int)k;
    float c = 2.0f * cosf(w), q0, q1 = 0, q2 = 0;
    for (int i = 0; i < n; i++) {
        q0 = c * q1 - q2 + samples[i];
        q2 = q1;
        q1 = q0;
    }
    return q1 * q1 + q2 * q2 - q1 * q2 * c;
}

int main(void)
{
    float s[64];
    for (int i = 0; i < 64; i++)
        s[i] = sinf(i * 0.3f);
    printf("%f\n", goertzel(s, 64, 440, 8000));
    return 0;
}
