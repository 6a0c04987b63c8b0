#include <stdint.h>
#ifndef WIDTH
#define WIDTH 40
#endif
#ifndef HEIGHT
#define HEIGHT 32
#endif
#ifndef RAD
#define RAD 4
#endif

/* Sauvola document binarisation, integer: T = m * (1 + k (s/128 - 1)), k = k256/256 */
static uint32_t S[HEIGHT + 1][WIDTH + 1];
static uint64_t SS[HEIGHT + 1][WIDTH + 1];

static uint32_t isqrt(uint32_t v)
{
    uint32_t r = 0, b = 1u << 30;
    while (b > v) b >>= 2;
    for (; b; b >>= 2)
        if (v >= r + b) { v -= r + b; r = (r >> 1) + b; }
        else r >>= 1;
    return r;
}

void sauvola(const uint8_t *gray, uint8_t *bin, uint32_t k256)
{
    for (int y = 1; y <= HEIGHT; y++) {
        uint32_t row = 0, row2 = 0;
        for (int x = 1; x <= WIDTH; x++) {
            uint32_t v = *gray++;
            row += v;
            row2 += v * v;
            S[y][x] = S[y - 1][x] + row;
            SS[y][x] = SS[y - 1][x] + row2;
        }
    }
    gray -= WIDTH * HEIGHT;

    for (int y = 0; y < HEIGHT; y++) {
        int t = y > RAD ? y - RAD : 0, b = y + RAD + 1 < HEIGHT ? y + RAD + 1 : HEIGHT;
        for (int x = 0; x < WIDTH; x++) {
            int l = x > RAD ? x - RAD : 0, r = x + RAD + 1 < WIDTH ? x + RAD + 1 : WIDTH;
            uint32_t n = (uint32_t)((b - t) * (r - l));
            uint32_t s = S[b][r] - S[t][r] - S[b][l] + S[t][l];
            uint64_t q = SS[b][r] - SS[t][r] - SS[b][l] + SS[t][l];
            uint32_t mean = s / n;
            /* variance * 256, for a standard deviation in sixteenths */
            uint64_t var = (q * n - (uint64_t)s * s) * 256 / ((uint64_t)n * n);
            uint32_t sd16 = isqrt((uint32_t)var);
            int32_t f = 65536 + (int32_t)k256 * ((int32_t)sd16 / 8 - 256);
            int32_t thr = (int32_t)((int64_t)mean * f >> 16);
            bin[y * WIDTH + x] = gray[y * WIDTH + x] > thr ? 255 : 0;
        }
    }
}
