#include <math.h>
#pragma simfoundry range x=-3.0:3.0 scale=0.5:1.5 shift=-0.5:0.5
void layer_norm(const float x[5][16], const float scale[16], const float shift[16], float y[5][16])
{
    for (int t = 0; t < 5; t++) {
        float sum = 0.0f, sq = 0.0f;
        for (int i = 0; i < 16; i++) {
            sum += x[t][i];
            sq += x[t][i] * x[t][i];
        }
        float mean = sum / 16.0f;
        float inv = 1.0f / sqrtf(sq / 16.0f - mean * mean + 1e-5f);
        for (int i = 0; i < 16; i++)
            y[t][i] = (x[t][i] - mean) * inv * scale[i] + shift[i];
    }
}
