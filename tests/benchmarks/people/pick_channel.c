#include <stdint.h>

/* Mix left or right channel into the output, depending on a mask. */
void pick_channels(const int16_t left[64], const int16_t right[64], uint64_t mask, int16_t out[64])
{
    for (int i = 0; i < 64; i++) {
        const int16_t *src = (mask >> i) & 1 ? right : left;
        out[i] = src[i];
    }
}
