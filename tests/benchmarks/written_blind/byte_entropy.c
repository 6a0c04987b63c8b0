#include <math.h>
/* Entropy in bits of nibbles. */
float byte_entropy(const unsigned char data[96])
{
    int hist[16] = {0};
    for (int i = 0; i < 96; i++) {
        hist[data[i] & 15]++;
        hist[data[i] >> 4]++;
    }
    float h = 0.0f;
    for (int b = 0; b < 16; b++)
        if (hist[b] > 0) {
            float p = (float)hist[b] / 192.0f;
            h -= p * logf(p);
        }
    return h * 1.442695f;
}
