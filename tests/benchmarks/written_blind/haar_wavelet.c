#define N 64
#pragma simfoundry range data=-100.0:100.0
/* In-place Haar transform over all levels. */
void haar_wavelet(float data[N])
{
    float half[N];
    const float s = 0.70710678f;
    for (int len = N; len > 1; len >>= 1) {
        int h = len >> 1;
        for (int i = 0; i < h; i++) {
            half[i] = (data[2 * i] + data[2 * i + 1]) * s;
            half[h + i] = (data[2 * i] - data[2 * i + 1]) * s;
        }
        for (int i = 0; i < len; i++)
            data[i] = half[i];
    }
}
