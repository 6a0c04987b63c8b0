/* Low-pass FIR in Q15 with rounding and saturation. */
#include <stdint.h>

#define TAPS 16
#define N 96

static const int16_t coef[TAPS] = {
    -12, -87, -140, 62, 720, 1900, 3310, 4280,
    4280, 3310, 1900, 720, 62, -140, -87, -12,
};

void fir_q15(const int16_t x[N], int16_t y[N])
{
    for (int n = 0; n < N; n++) {
        int32_t acc = 1 << 14;
        for (int k = 0; k < TAPS; k++) {
            if (n - k >= 0)
                acc += (int32_t)coef[k] * x[n - k];
        }
        acc >>= 15;
        if (acc > 32767)
            acc = 32767;
        if (acc < -32768)
            acc = -32768;
        y[n] = (int16_t)acc;
    }
}
