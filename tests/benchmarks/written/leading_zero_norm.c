#include <stdint.h>

/* Normalises numbers: mantissa with the top bit set, and the shift. Zero stays. */
void leading_zero_norm(const uint32_t v[60], uint32_t mantissa[60], uint8_t shift[60])
{
    for (int i = 0; i < 60; i++) {
        uint32_t x = v[i];
        int n = 0;
        if (x) {
            if (!(x & 0xffff0000u)) { n += 16; x <<= 16; }
            if (!(x & 0xff000000u)) { n += 8; x <<= 8; }
            if (!(x & 0xf0000000u)) { n += 4; x <<= 4; }
            if (!(x & 0xc0000000u)) { n += 2; x <<= 2; }
            if (!(x & 0x80000000u)) { n += 1; x <<= 1; }
        }
        mantissa[i] = x;
        shift[i] = (uint8_t)n;
    }
}
