#include <stdio.h>

static unsigned gcd(unsigned a, unsigned b)
{
    return b == 0 ? a : gcd(b, a % b);
}

unsigned lcm_all(const unsigned char n[10])
{
    unsigned result = 1;
    for (int i = 0; i < 10; i++) {
        unsigned v = n[i] ?: 1;
        unsigned g = gcd(result, v);
        if (result / g > 0xffffu)
            break;
        result = result / g * v;
    }
    printf("lcm = %u\n", result);
    return result;
}
