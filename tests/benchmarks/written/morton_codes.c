#include <stdint.h>

static uint32_t spread(uint32_t v)
{
    v &= 0xffff;
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}

void morton_codes(const uint16_t x[50], const uint16_t y[50], uint32_t code[50])
{
    for (int i = 0; i < 50; i++)
        code[i] = spread(x[i]) | spread(y[i]) << 1;
}
