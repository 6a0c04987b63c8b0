// Reversible 5/3 wavelet (lifting) on a picture, several levels, followed by
// a dead-zone quantiser and a count of the zeros per level.

#include <stdint.h>

#ifndef WIDTH
#define WIDTH 32
#endif
#ifndef HEIGHT
#define HEIGHT 24
#endif
#ifndef LEVELS
#define LEVELS 3        // both sides must be divisible by 2^LEVELS
#endif

#define MAX_SIDE (WIDTH > HEIGHT ? WIDTH : HEIGHT)

typedef int32_t coef;

static inline coef floor_half(coef v)    { return v >= 0 ? v / 2 : -((1 - v) / 2); }
static inline coef floor_quarter(coef v) { return v >= 0 ? v / 4 : -((3 - v) / 4); }

// One line of n values (n even), `step` apart: lows to the front, highs behind.
static void lift_line(coef *line, int n, int step)
{
    coef low[MAX_SIDE / 2], high[MAX_SIDE / 2];
    const int half = n / 2;

    for (int i = 0; i < half; i++) {
        coef left  = line[2 * i * step];
        coef right = i + 1 < half ? line[(2 * i + 2) * step] : left;   // mirrored
        high[i] = line[(2 * i + 1) * step] - floor_half(left + right);
    }
    for (int i = 0; i < half; i++) {
        coef before = i > 0 ? high[i - 1] : high[0];
        low[i] = line[2 * i * step] + floor_quarter(before + high[i] + 2);
    }
    for (int i = 0; i < half; i++) {
        line[i * step]          = low[i];
        line[(half + i) * step] = high[i];
    }
}

void lifting_53_image(const uint8_t *pixels, coef *out, int quant, int32_t zeros[LEVELS])
{
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        out[i] = (coef)pixels[i] - 128;

    for (int level = 0; level < LEVELS; level++) {
        int w = WIDTH >> level, h = HEIGHT >> level;
        for (int y = 0; y < h; y++)
            lift_line(out + y * WIDTH, w, 1);
        for (int x = 0; x < w; x++)
            lift_line(out + x, h, WIDTH);
    }

    for (int level = 0; level < LEVELS; level++) {
        int w = WIDTH >> level, h = HEIGHT >> level;
        int q = quant >> level;
        zeros[level] = 0;
        if (q < 1)
            q = 1;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                if (x < w / 2 && y < h / 2)
                    continue;             // belongs to the next level
                coef *c = &out[y * WIDTH + x];
                *c /= q;                  // towards zero: dead zone of 2q - 1
                zeros[level] += *c == 0;
            }
    }
}
