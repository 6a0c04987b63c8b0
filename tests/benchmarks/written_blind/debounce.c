#include <stdint.h>
/* Vertical counters debounce 32 keys at a time. */
void debounce(const uint32_t raw[64], uint32_t pressed[64])
{
    uint32_t state = 0, c0 = ~0u, c1 = ~0u;
    for (int t = 0; t < 64; t++) {
        uint32_t delta = state ^ raw[t];
        c0 = ~(c0 & delta);
        c1 = c0 ^ (c1 & delta);
        uint32_t toggle = delta & c0 & c1;
        state ^= toggle;
        pressed[t] = state & toggle;
    }
}
