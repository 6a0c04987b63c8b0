#include <stdint.h>

typedef union {
    uint32_t value;
    struct {
        uint8_t b, g, r, a;
    };
} color_t;

static inline uint8_t mix(uint8_t x, uint8_t y, unsigned alpha)
{
    return (uint8_t)((x * (255 - alpha) + y * alpha) / 255);
}

void blend_rows(uint32_t *dst, const uint32_t *src, int width)
{
    for (int i = 0; i < width; i++) {
        color_t d = {.value = dst[i]}, s = {.value = src[i]};
        d.r = mix(d.r, s.r, s.a);
        d.g = mix(d.g, s.g, s.a);
        d.b = mix(d.b, s.b, s.a);
        d.a = 255;
        dst[i] = d.value;
    }
}
