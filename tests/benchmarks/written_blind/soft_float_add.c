#include <stdint.h>
/* Adds floats given as bits, round to zero, no infinities: for a core without FPU. */
static uint32_t add(uint32_t a, uint32_t b)
{
    if ((a & 0x7fffffff) < (b & 0x7fffffff)) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    uint32_t ea = a >> 23 & 255, eb = b >> 23 & 255;
    uint32_t ma = (a & 0x7fffff) | 0x800000, mb = (b & 0x7fffff) | 0x800000;
    uint32_t shift = ea - eb;
    mb = shift > 24 ? 0 : mb >> shift;
    uint32_t m = (a ^ b) >> 31 ? ma - mb : ma + mb;
    if (m == 0)
        return 0;
    if (m & 0x1000000) {
        m >>= 1;
        ea++;
    }
    while (!(m & 0x800000)) {
        m <<= 1;
        ea--;
    }
    return (a & 0x80000000u) | (ea & 255) << 23 | (m & 0x7fffff);
}

#pragma simfoundry range x=1000000000:1100000000 y=1000000000:1100000000
void soft_float_add(const uint32_t x[24], const uint32_t y[24], uint32_t z[24])
{
    for (int i = 0; i < 24; i++)
        z[i] = add(x[i], y[i] ^ (uint32_t)(i & 1) << 31);
}
