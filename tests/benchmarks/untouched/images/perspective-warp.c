// Head-up display: pre-distort the frame for the curved windscreen.
// Pixels are 0xAARRGGBB. For every target pixel the source position comes from
// a homography (float), mixing is done on two channels at a time (integer).
#include <stdint.h>

#ifndef IN_W
#define IN_W 32
#endif
#ifndef IN_H
#define IN_H 24
#endif
#ifndef OUT_W
#define OUT_W 40
#endif
#ifndef OUT_H
#define OUT_H 20
#endif

typedef uint32_t argb;

static inline argb mix(argb a, argb b, uint32_t t) // t: 0 = a ... 256 = b
{
    uint32_t rb = ((a & 0x00FF00FFu) * (256u - t) + (b & 0x00FF00FFu) * t) >> 8;
    uint32_t ag = ((a >> 8) & 0x00FF00FFu) * (256u - t) + ((b >> 8) & 0x00FF00FFu) * t;
    return (rb & 0x00FF00FFu) | (ag & 0xFF00FF00u);
}

static argb sample(const argb *src, float u, float v)
{
    int x = (int)u, y = (int)v;
    uint32_t fx = (uint32_t)((u - (float)x) * 256.0f);
    uint32_t fy = (uint32_t)((v - (float)y) * 256.0f);
    const argb *p = src + y * IN_W + x;
    int right = x + 1 < IN_W ? 1 : 0;
    int down = y + 1 < IN_H ? IN_W : 0;

    return mix(mix(p[0], p[right], fx), mix(p[down], p[down + right], fx), fy);
}

// linear: 2x2 part, offset: where (0,0) comes from, tilt: last row (third is 1)
unsigned warp_frame(const argb *src, argb *dst, const float *linear,
                    const float *offset, const float *tilt, argb background)
{
    unsigned covered = 0;

    for (int y = 0; y < OUT_H; ++y) {
        // numerators and denominator are linear along a row
        float nu = linear[1] * (float)y + offset[0];
        float nv = linear[3] * (float)y + offset[1];
        float de = tilt[1] * (float)y + 1.0f;

        for (int x = 0; x < OUT_W; ++x, ++dst) {
            float inv = 1.0f / de;
            float u = nu * inv, v = nv * inv;

            nu += linear[0];
            nv += linear[2];
            de += tilt[0];

            if (!(u >= 0.0f && u <= (float)(IN_W - 1) && v >= 0.0f && v <= (float)(IN_H - 1))) {
                *dst = background;
                continue;
            }
            *dst = sample(src, u, v);
            ++covered;
        }
    }
    return covered;
}
