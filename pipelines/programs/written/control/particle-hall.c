#include <math.h>

#ifndef NP
#define NP 64
#endif
#ifndef T
#define T 8
#endif

/* Localisation in a corridor (ring of unit length) with three doors. The door sensor
   fires with a likelihood falling off with the distance; systematic resampling when
   the effective sample size gets low. All noise comes from outside. */

typedef float f32;

static const f32 door[3] = { 0.10f, 0.25f, 0.70f };

static f32 wrap01(f32 x)
{
    while (x >= 1.0f) x -= 1.0f;
    while (x < 0.0f) x += 1.0f;
    return x;
}

static f32 door_distance(f32 x)
{
    f32 best = 1.0f;
    for (int d = 0; d < 3; d++) {
        f32 g = fabsf(x - door[d]);
        if (g > 0.5f) g = 1.0f - g;
        if (g < best) best = g;
    }
    return best;
}

static void resample(f32 *x, f32 *w, f32 u)
{
    f32 y[NP], cum = w[0];
    int i = 0;
    for (int k = 0; k < NP; k++) {
        f32 at = ((f32)k + u) / NP;
        while (at > cum && i < NP - 1) cum += w[++i];
        y[k] = x[i];
    }
    for (int k = 0; k < NP; k++) { x[k] = y[k]; w[k] = 1.0f / NP; }
}

int pf_corridor(f32 x[NP], const f32 odo[T], const unsigned char sees_door[T], const f32 noise[T][NP],
                const f32 u[T], f32 mean[T], f32 spread[T])
{
    f32 w[NP];
    int resampled = 0;

    for (int k = 0; k < NP; k++) w[k] = 1.0f / NP;
    for (int t = 0; t < T; t++) {
        f32 sum = 0, sq = 0, cx = 0, sx = 0;

        for (int k = 0; k < NP; k++) {
            f32 d, hit;
            x[k] = wrap01(x[k] + odo[t] + 0.02f * noise[t][k]);
            d = door_distance(x[k]) / 0.03f;
            hit = 0.9f * expf(-0.5f * d * d) + 0.05f;
            w[k] *= sees_door[t] ? hit : 1.0f - hit;
            sum += w[k];
        }
        for (int k = 0; k < NP; k++) {
            w[k] /= sum;
            sq += w[k] * w[k];
            cx += w[k] * cosf(6.2831853f * x[k]);
            sx += w[k] * sinf(6.2831853f * x[k]);
        }
        mean[t] = wrap01(atan2f(sx, cx) / 6.2831853f);
        spread[t] = 1.0f - sqrtf(cx * cx + sx * sx);
        if (1.0f / sq < 0.5f * NP) {
            resample(x, w, u[t]);
            resampled++;
        }
    }
    return resampled;
}
