#include <limits.h>
#include <stdint.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(x, lo, hi) MIN(MAX(x, lo), hi)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const int16_t taps[] = {-12, 40, 190, 300, 190, 40, -12};

void fir_clamped(const int16_t x[128], int16_t y[128])
{
    for (int n = 0; n < 128; n++) {
        int32_t acc = 1 << 9;
        for (unsigned k = 0; k < ARRAY_SIZE(taps); k++)
            if (n >= (int)k)
                acc += taps[k] * x[n - k];
        y[n] = (int16_t)CLAMP(acc >> 10, INT16_MIN, INT16_MAX);
    }
}
