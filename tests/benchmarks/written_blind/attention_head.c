#include <math.h>
#define T 6
#define D 4
/* Causal attention of one head. */
#pragma simfoundry range q=-1.0:1.0 k=-1.0:1.0 v=-1.0:1.0
void attention_head(const float q[T][D], const float k[T][D], const float v[T][D], float out[T][D])
{
    for (int i = 0; i < T; i++) {
        float p[T], total = 0.0f;
        for (int j = 0; j <= i; j++) {
            float s = 0.0f;
            for (int d = 0; d < D; d++)
                s += q[i][d] * k[j][d];
            p[j] = expf(0.5f * s);
            total += p[j];
        }
        for (int d = 0; d < D; d++) {
            float s = 0.0f;
            for (int j = 0; j <= i; j++)
                s += p[j] * v[j][d];
            out[i][d] = s / total;
        }
    }
}
