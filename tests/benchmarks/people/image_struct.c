#include <stdint.h>
#include <assert.h>

typedef struct {
    int width, height;
    const uint8_t *pixels;
} image_t;

static inline uint8_t pixel(const image_t *im, int x, int y)
{
    x = x < 0 ? 0 : x >= im->width ? im->width - 1 : x;
    y = y < 0 ? 0 : y >= im->height ? im->height - 1 : y;
    return im->pixels[y * im->width + x];
}

void sobel(const uint8_t in[24 * 16], uint8_t out[24 * 16])
{
    image_t im = {24, 16, in};
    assert(im.pixels != 0);
    for (int y = 0; y < im.height; y++)
        for (int x = 0; x < im.width; x++) {
            int gx = pixel(&im, x + 1, y - 1) + 2 * pixel(&im, x + 1, y) + pixel(&im, x + 1, y + 1)
                   - pixel(&im, x - 1, y - 1) - 2 * pixel(&im, x - 1, y) - pixel(&im, x - 1, y + 1);
            int gy = pixel(&im, x - 1, y + 1) + 2 * pixel(&im, x, y + 1) + pixel(&im, x + 1, y + 1)
                   - pixel(&im, x - 1, y - 1) - 2 * pixel(&im, x, y - 1) - pixel(&im, x + 1, y - 1);
            int m = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
            out[y * im.width + x] = m > 255 ? 255 : (uint8_t)m;
        }
}
