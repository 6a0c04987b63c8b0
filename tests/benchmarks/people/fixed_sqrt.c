#include <stdint.h>
#include <stdio.h>

typedef int32_t q16;
#define Q16(x) ((q16)((x) * 65536.0))
#define Q16_MUL(a, b) ((q16)(((int64_t)(a) * (b)) >> 16))

static uint32_t isqrt(uint32_t n)
{
    uint32_t root = 0, bit = 1u << 30;
    while (bit > n)
        bit >>= 2;
    while (bit != 0) {
        if (n >= root + bit) {
            n -= root + bit;
            root = (root >> 1) + bit;
        } else
            root >>= 1;
        bit >>= 2;
    }
    return root;
}

void rms_q16(const q16 samples[8][16], q16 out[8])
{
    for (int c = 0; c < 8; c++) {
        int64_t sum = 0;
        for (int i = 0; i < 16; i++) {
            q16 s = samples[c][i] >> 8;
            sum += Q16_MUL(s, s);
        }
        out[c] = (q16)isqrt((uint32_t)(sum / 16)) << 8;
        if (out[c] > Q16(0.9))
            printf("channel %d is loud\n", c);
    }
}
