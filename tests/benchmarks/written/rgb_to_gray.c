#include <stdint.h>

/* Packed 0x00RRGGBB words to luma bytes; also returns the brightest value. */
int rgb_to_gray(const uint32_t px[100], uint8_t gray[100])
{
    int brightest = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t p = px[i];
        uint32_t r = (p >> 16) & 0xff, g = (p >> 8) & 0xff, b = p & 0xff;
        int l = (int)((77 * r + 150 * g + 29 * b + 128) >> 8);
        gray[i] = (uint8_t)l;
        if (l > brightest)
            brightest = l;
    }
    return brightest;
}
