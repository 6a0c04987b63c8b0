/* Functions that a program may call without a definition: those of the headers, and gcc's built-in ones. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SIMFOUNDRY_HLS
static int __builtin_popcountll(unsigned long long x)
{
    x = x - (x >> 1 & 0x5555555555555555ull);
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    x = x + (x >> 4) & 0x0f0f0f0f0f0f0f0full;
    return (int)(x * 0x0101010101010101ull >> 56);
}

static int __builtin_popcountl(unsigned long x)
{
    return __builtin_popcountll(x);
}

static int __builtin_popcount(unsigned int x)
{
    return __builtin_popcountll(x);
}

static int __builtin_parityll(unsigned long long x)
{
    return __builtin_popcountll(x) & 1;
}

static int __builtin_parityl(unsigned long x)
{
    return __builtin_popcountll(x) & 1;
}

static int __builtin_parity(unsigned int x)
{
    return __builtin_popcountll(x) & 1;
}

static int __builtin_clzll(unsigned long long x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    x |= x >> 32;
    return 64 - __builtin_popcountll(x);
}

static int __builtin_clzl(unsigned long x)
{
    return __builtin_clzll(x);
}

static int __builtin_clz(unsigned int x)
{
    return __builtin_clzll(x) - 32;
}

static int __builtin_ctzll(unsigned long long x)
{
    return __builtin_popcountll(~x & x - 1);
}

static int __builtin_ctzl(unsigned long x)
{
    return __builtin_ctzll(x);
}

static int __builtin_ctz(unsigned int x)
{
    return __builtin_ctzll(x);
}

static int __builtin_ffs(int x)
{
    return x == 0 ? 0 : __builtin_ctzll((unsigned int)x) + 1;
}

static unsigned short __builtin_bswap16(unsigned short x)
{
    return (unsigned short)(x << 8 | x >> 8);
}

static unsigned int __builtin_bswap32(unsigned int x)
{
    return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

static unsigned long long __builtin_bswap64(unsigned long long x)
{
    return (unsigned long long)__builtin_bswap32((unsigned int)x) << 32 | __builtin_bswap32((unsigned int)(x >> 32));
}

static void __assert_fail(const char *condition, const char *file, unsigned int line, const char *function)
{
}

static float __builtin_nanf(const char *text)
{
    return simfoundry_float_of_bits(0x7fc00000u);
}

static double __builtin_nan(const char *text)
{
    return simfoundry_double_of_bits(0x7ff8000000000000ull);
}

static int __builtin_abs(int x)
{
    return abs(x);
}

static int __builtin_isnan(double x)
{
    return x != x;
}

static float __builtin_inff(void)
{
    return simfoundry_float_of_bits(0x7f800000u);
}

static float __builtin_huge_valf(void)
{
    return simfoundry_float_of_bits(0x7f800000u);
}

static double __builtin_inf(void)
{
    return simfoundry_double_of_bits(0x7ff0000000000000ull);
}

static double __builtin_huge_val(void)
{
    return simfoundry_double_of_bits(0x7ff0000000000000ull);
}
#endif
