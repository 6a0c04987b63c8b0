#include <stdint.h>
#ifndef H
#define H 10
#endif
#ifndef W
#define W 10
#endif
#ifndef CH
#define CH 8
#endif
#ifndef STRIDE
#define STRIDE 2
#endif

#define OH ((H + STRIDE - 1) / STRIDE)
#define OW ((W + STRIDE - 1) / STRIDE)
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

typedef struct
{
    int16_t in_offset;
    int16_t out_offset;
    int16_t act_min, act_max;
} dw_params_t;

static void init_params(dw_params_t *p, int zin, int zout, int relu)
{
    p->in_offset  = (int16_t)-zin;
    p->out_offset = (int16_t)zout;
    p->act_min    = relu ? (int16_t)zout : -128;
    p->act_max    = 127;
}

// 3x3 depthwise convolution, NHWC, SAME padding. Scale per channel is mult/2^16.
void dwconv3x3_s8(const int8_t *src, const int8_t *ker, const int32_t *bias,
                  const uint16_t *mult, int zin, int zout, int relu, int8_t *dst)
{
    dw_params_t p;
    init_params(&p, zin, zout, relu);

    for (int oy = 0; oy < OH; oy++)
    {
        const int base_y = oy * STRIDE - 1;
        const int ky0 = base_y < 0 ? -base_y : 0;
        const int ky1 = base_y + 3 > H ? H - base_y : 3;
        for (int ox = 0; ox < OW; ox++)
        {
            const int base_x = ox * STRIDE - 1;
            const int kx0 = base_x < 0 ? -base_x : 0;
            const int kx1 = base_x + 3 > W ? W - base_x : 3;

            for (int c = 0; c < CH; c++)
            {
                int32_t acc = bias[c];
                for (int ky = ky0; ky < ky1; ky++)
                {
                    const int8_t *s = src + ((base_y + ky) * W + base_x + kx0) * CH + c;
                    const int8_t *k = ker + (ky * 3 + kx0) * CH + c;
                    for (int kx = kx0; kx < kx1; kx++, s += CH, k += CH)
                        acc += (*s + p.in_offset) * *k;
                }
                int64_t scaled = ((int64_t)acc * mult[c] + 32768) >> 16;
                scaled += p.out_offset;
                *dst++ = (int8_t)CLAMP(scaled, p.act_min, p.act_max);
            }
        }
    }
}
