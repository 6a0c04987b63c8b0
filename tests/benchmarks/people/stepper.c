#include <stdint.h>
#include <stdlib.h>

static const uint8_t phases[] = {0x1, 0x3, 0x2, 0x6, 0x4, 0xc, 0x8, 0x9};

void step_to(int32_t *position, int32_t target, uint8_t *coil, size_t max)
{
    int32_t p = *position;
    int dir = target > p ? 1 : -1;
    size_t n = 0;
    while (p != target && n < max) {
        p += dir;
        coil[n++] = phases[p & 7];
    }
    *position = p;
}
