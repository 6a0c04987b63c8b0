#include <stdint.h>
typedef int32_t q16;

/* Root in Q16.16, bit by bit, and distances of points by it. */
static q16 root(uint32_t v)
{
    uint64_t rem = (uint64_t)v << 16;
    uint64_t res = 0, bit = 1ULL << 46;
    while (bit > rem)
        bit >>= 2;
    while (bit) {
        if (rem >= res + bit) {
            rem -= res + bit;
            res = (res >> 1) + bit;
        } else
            res >>= 1;
        bit >>= 2;
    }
    return (q16)res;
}

#pragma simfoundry range x=-6000000:6000000 y=-6000000:6000000
void fixed_sqrt(const q16 x[10], const q16 y[10], q16 r[10])
{
    for (int i = 0; i < 10; i++) {
        int64_t s = (int64_t)x[i] * x[i] + (int64_t)y[i] * y[i];
        r[i] = root((uint32_t)(s >> 16));
    }
}
