/* Radix-2 FFT of 16 points, Q14 twiddles, scaling by 1/2 per stage. */
#include <stdint.h>
#pragma simfoundry range re=-8000:8000 im=-8000:8000

static const int16_t wr[8] = {16384, 15137, 11585, 6270, 0, -6270, -11585, -15137};
static const int16_t wi[8] = {0, -6270, -11585, -15137, -16384, -15137, -11585, -6270};

void fft16_fixed(int16_t re[16], int16_t im[16])
{
    int j = 0;
    for (int i = 0; i < 15; i++) {
        if (i < j) {
            int16_t t = re[i]; re[i] = re[j]; re[j] = t;
            t = im[i]; im[i] = im[j]; im[j] = t;
        }
        int k = 8;
        while (k <= j) {
            j -= k;
            k >>= 1;
        }
        j += k;
    }
    for (int half = 1; half < 16; half <<= 1) {
        int step = 8 / half;
        for (int g = 0; g < 16; g += 2 * half) {
            for (int k = 0; k < half; k++) {
                int a = g + k, b = a + half, w = k * step;
                int32_t tr = ((int32_t)wr[w] * re[b] - (int32_t)wi[w] * im[b]) >> 14;
                int32_t ti = ((int32_t)wr[w] * im[b] + (int32_t)wi[w] * re[b]) >> 14;
                re[b] = (int16_t)((re[a] - tr) >> 1);
                im[b] = (int16_t)((im[a] - ti) >> 1);
                re[a] = (int16_t)((re[a] + tr) >> 1);
                im[a] = (int16_t)((im[a] + ti) >> 1);
            }
        }
    }
}
