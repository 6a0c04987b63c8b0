/* Gray codes of the states of a 16-bit LFSR. */
#include <stdint.h>
uint16_t gray_lfsr(uint16_t seed, uint16_t code[100])
{
    uint16_t s = seed ? seed : 1;
    for (int i = 0; i < 100; i++) {
        uint16_t bit = (s ^ s >> 2 ^ s >> 3 ^ s >> 5) & 1;
        s = (uint16_t)(s >> 1 | bit << 15);
        code[i] = (uint16_t)(s ^ s >> 1);
    }
    return s;
}
