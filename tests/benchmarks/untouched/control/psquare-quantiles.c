#include <stdio.h>

#ifndef CHANNELS
#define CHANNELS 3
#endif
#ifndef SAMPLES
#define SAMPLES 120
#endif
#ifndef LEVELS
#define LEVELS 3
#endif

/* One quantile without keeping the samples (P-square, Jain and Chlamtac):
   five markers: minimum, two in between, the quantile, maximum. */
typedef struct quantile {
    float height[5];
    int   place[5];
    float want[5];
    float pace[5];
    int   seen;
} quantile;

static quantile est[CHANNELS][LEVELS];

static void begin(quantile *e, float p)
{
    const float pace[5] = { 0.0f, p / 2, p, (1 + p) / 2, 1.0f };

    e->seen = 0;
    for (int i = 0; i < 5; i++) {
        e->place[i] = i;
        e->pace[i] = pace[i];
        e->want[i] = 4 * pace[i];
    }
}

static float parabola(const quantile *e, int i, int d)
{
    const float *h = e->height + i;
    const int *n = e->place + i;
    float up = (float)(n[0] - n[-1] + d) * (h[1] - h[0]) / (float)(n[1] - n[0]);
    float down = (float)(n[1] - n[0] - d) * (h[0] - h[-1]) / (float)(n[0] - n[-1]);

    return h[0] + (float)d / (float)(n[1] - n[-1]) * (up + down);
}

static void take(quantile *e, float x)
{
    int cell, i;

    if (e->seen < 5) {                      /* insertion into the first five */
        for (i = e->seen++; i > 0 && e->height[i - 1] > x; i--)
            e->height[i] = e->height[i - 1];
        e->height[i] = x;
        return;
    }
    e->seen++;

    if (x < e->height[0]) {
        e->height[0] = x;
        cell = 0;
    } else if (x >= e->height[4]) {
        e->height[4] = x;
        cell = 3;
    } else {
        for (cell = 0; x >= e->height[cell + 1]; cell++)
            ;
    }
    for (i = cell + 1; i < 5; i++)
        e->place[i]++;
    for (i = 0; i < 5; i++)
        e->want[i] += e->pace[i];

    for (i = 1; i <= 3; i++) {
        float off = e->want[i] - (float)e->place[i];
        int d = off >= 1.0f && e->place[i + 1] - e->place[i] > 1 ? 1
              : off <= -1.0f && e->place[i - 1] - e->place[i] < -1 ? -1 : 0;
        if (d == 0)
            continue;
        float h = parabola(e, i, d);
        if (h <= e->height[i - 1] || h >= e->height[i + 1])
            h = e->height[i] + (float)d * (e->height[i + d] - e->height[i])
                             / (float)(e->place[i + d] - e->place[i]);
        e->height[i] = h;
        e->place[i] += d;
    }
}

/* samples are interleaved by channel */
void psquare_quantiles(const float *samples, const float *level, float *result)
{
    for (int c = 0; c < CHANNELS; c++)
        for (int l = 0; l < LEVELS; l++)
            begin(&est[c][l], level[l]);

    for (int s = 0; s < SAMPLES; s++)
        for (int c = 0; c < CHANNELS; c++, samples++)
            for (quantile *e = est[c]; e < est[c] + LEVELS; e++)
                take(e, *samples);

    for (int c = 0; c < CHANNELS; c++)
        for (int l = 0; l < LEVELS; l++)
            *result++ = est[c][l].height[2];
}

int main(void)
{
    static float x[SAMPLES * CHANNELS], level[LEVELS], r[CHANNELS * LEVELS];

    for (int i = 0; i < SAMPLES * CHANNELS; i++)
        x[i] = (float)(i * 31 % 101);
    for (int i = 0; i < LEVELS; i++)
        level[i] = (float)(i + 1) / (float)(LEVELS + 1);
    psquare_quantiles(x, level, r);
    for (int i = 0; i < LEVELS; i++)
        printf("%.2f: %.2f\n", level[i], r[i]);
    return 0;
}
