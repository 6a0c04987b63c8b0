/*
 * Depthwise 3x3 convolution for a MobileNet style network.
 *
 * Layout NHWC, batch 1. Activations and weights are int8, the bias is int32
 * in units of (input scale * weight scale). Stride 1; the output has the size
 * of the input and the border counts as the input's zero point.
 */

#include <stdint.h>

#ifndef HEIGHT
#define HEIGHT 10
#endif
#ifndef WIDTH
#define WIDTH 10
#endif
#ifndef CHANNELS
#define CHANNELS 8
#endif

#define OUT_MIN (-128)
#define OUT_MAX 127

typedef struct
{
    int32_t multiplier; /* Q31, at least one half */
    int     shift;      /* further shift to the right */
} channel_scale_t;

static inline int8_t requantise(int32_t acc, channel_scale_t scale, int32_t zero)
{
    const int     total   = 31 + scale.shift;
    const int64_t rounded = (int64_t)acc * scale.multiplier + ((int64_t)1 << (total - 1));
    int32_t       q       = (int32_t)(rounded >> total) + zero;

    if (q < OUT_MIN)
    {
        q = OUT_MIN;
    }
    else if (q > OUT_MAX)
    {
        q = OUT_MAX;
    }
    return (int8_t)q;
}

void depthwise_conv_s8(const int8_t  *input,
                       const int8_t  *weights, /* [3][3][CHANNELS] */
                       const int32_t *bias,
                       const int32_t *multiplier,
                       const uint8_t *shift,
                       int32_t        in_zero,
                       int32_t        out_zero,
                       int8_t        *output)
{
    for (int y = 0; y < HEIGHT; ++y)
    {
        const int ky_begin = (y == 0) ? 1 : 0;
        const int ky_end   = (y == HEIGHT - 1) ? 2 : 3;

        for (int x = 0; x < WIDTH; ++x)
        {
            const int kx_begin = (x == 0) ? 1 : 0;
            const int kx_end   = (x == WIDTH - 1) ? 2 : 3;

            for (int c = 0; c < CHANNELS; ++c)
            {
                const channel_scale_t scale = { multiplier[c], shift[c] };
                int32_t               acc   = bias[c];

                for (int ky = ky_begin; ky < ky_end; ++ky)
                {
                    for (int kx = kx_begin; kx < kx_end; ++kx)
                    {
                        const int pixel = (y + ky - 1) * WIDTH + (x + kx - 1);
                        acc += (input[pixel * CHANNELS + c] - in_zero)
                             * weights[(ky * 3 + kx) * CHANNELS + c];
                    }
                }
                output[(y * WIDTH + x) * CHANNELS + c] = requantise(acc, scale, out_zero);
            }
        }
    }
}
