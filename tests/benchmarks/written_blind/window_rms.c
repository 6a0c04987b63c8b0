#include <math.h>

static float hann(int i, int n)
{
    return 0.5f - 0.5f * cosf(6.2831853f * (float)i / (float)(n - 1));
}

/* Windowed energy of four frames. */
#pragma simfoundry range frame=-1.0:1.0
void window_rms(const float frame[4][32], float rms[4])
{
    for (int f = 0; f < 4; f++) {
        float sum = 0.0f;
        for (int i = 0; i < 32; i++) {
            float v = frame[f][i] * hann(i, 32);
            sum += v * v;
        }
        rms[f] = sqrtf(sum / 32.0f);
    }
}
