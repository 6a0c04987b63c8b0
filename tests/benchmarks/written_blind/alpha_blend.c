#include <stdint.h>
/* ARGB over ARGB, channels packed in words. */
static uint32_t channel(uint32_t s, uint32_t d, uint32_t a, int shift)
{
    uint32_t sc = (s >> shift) & 0xff, dc = (d >> shift) & 0xff;
    uint32_t v = sc * a + dc * (255 - a) + 128;
    return (((v + (v >> 8)) >> 8) & 0xff) << shift;
}

void alpha_blend(const uint32_t src[50], uint32_t dst[50])
{
    for (int i = 0; i < 50; i++) {
        uint32_t s = src[i], d = dst[i], a = s >> 24;
        if (a == 255)
            dst[i] = s;
        else if (a != 0)
            dst[i] = 0xff000000u | channel(s, d, a, 16) | channel(s, d, a, 8) | channel(s, d, a, 0);
    }
}
