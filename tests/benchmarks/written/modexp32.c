#include <stdint.h>
#pragma simfoundry range base=1:60000 exponent=1:65536 modulus=3:65536

/* base^exponent mod modulus; the loop ends with the exponent. */
uint32_t modexp32(uint32_t base, uint32_t exponent, uint32_t modulus)
{
    uint32_t result = 1;
    base %= modulus;
    while (exponent) {
        if (exponent & 1)
            result = (uint32_t)((uint64_t)result * base % modulus);
        base = (uint32_t)((uint64_t)base * base % modulus);
        exponent >>= 1;
    }
    return result;
}
