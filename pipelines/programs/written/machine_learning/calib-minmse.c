#include <math.h>
#ifndef COUNT
#define COUNT 400
#endif
#ifndef BINS
#define BINS 128
#endif
#ifndef STEPS
#define STEPS 12
#endif

/// Picks the clipping range of a symmetric int8 quantiser so that the mean
/// squared error, estimated on a histogram of |x|, is least.
struct calib_result
{
    float clip;
    float scale;
    double mse;
    int clipped;
};

static double bin_error(double centre, double clip, double scale)
{
    if (centre >= clip)
        return (centre - clip) * (centre - clip);
    double q = floor(centre / scale + 0.5) * scale;
    return (centre - q) * (centre - q);
}

void calibrate_int8(const float *x, struct calib_result *res, signed char *q)
{
    int hist[BINS] = {0};
    float top = 1e-6f;

    for (int i = 0; i < COUNT; i++)
        top = fmaxf(top, fabsf(x[i]));
    const double width = (double)top / BINS;
    for (int i = 0; i < COUNT; i++) {
        int b = (int)(fabsf(x[i]) / width);
        hist[b < BINS ? b : BINS - 1]++;
    }

    res->mse = 1e300;
    for (int s = 1; s <= STEPS; s++) {
        double clip = top * (double)s / STEPS, err = 0;
        for (int b = 0; b < BINS; b++) {
            if (!hist[b])
                continue;
            err += hist[b] * bin_error((b + 0.5) * width, clip, clip / 127.0);
            if (err > res->mse * COUNT)
                break;                      // cannot win any more
        }
        err /= COUNT;
        if (err < res->mse) {
            res->mse = err;
            res->clip = (float)clip;
        }
    }
    res->scale = res->clip / 127.0f;
    res->clipped = 0;
    for (int i = 0; i < COUNT; i++) {
        float v = rintf(x[i] / res->scale);
        if (v > 127.0f || v < -127.0f) {
            v = v > 0 ? 127.0f : -127.0f;
            res->clipped++;
        }
        q[i] = (signed char)v;
    }
}
