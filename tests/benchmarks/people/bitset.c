#include <assert.h>
#include <limits.h>
#include <stdint.h>

#define WORD_BITS (CHAR_BIT * sizeof(uint32_t))
#define SET(s, i) ((s)[(i) / WORD_BITS] |= 1u << ((i) % WORD_BITS))
#define TEST(s, i) (((s)[(i) / WORD_BITS] >> ((i) % WORD_BITS)) & 1u)

int sieve(uint32_t composite[8], uint8_t primes[64])
{
    int count = 0;
    for (unsigned i = 0; i < 8; i++)
        composite[i] = 0;
    for (unsigned i = 2; i < 256; i++) {
        if (TEST(composite, i))
            continue;
        assert(count < 64);
        primes[count++] = (uint8_t)i;
        for (unsigned j = i * i; j < 256; j += i)
            SET(composite, j);
    }
    return count;
}
