#include <stdint.h>
#include <assert.h>

static union pun { float f; uint32_t u; } pun;

float fast_rsqrt(float x)
{
    union pun p;
    assert(x >= 0);
    p.f = x;
    p.u = 0x5f3759df - (p.u >> 1);
    p.f *= 1.5f - 0.5f * x * p.f * p.f;
    return p.f;
}
