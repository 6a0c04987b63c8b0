#include <inttypes.h>
#include <stdio.h>

static uint64_t mulmod(uint64_t a, uint64_t b, uint64_t m)
{
    uint64_t r = 0;
    while (b) {
        if (b & 1)
            r = (r + a) % m;
        a = (a << 1) % m;
        b >>= 1;
    }
    return r;
}

static uint64_t powmod(uint64_t base, uint64_t exp, uint64_t m, uint64_t acc)
{
    if (exp == 0)
        return acc;
    return powmod(mulmod(base, base, m), exp >> 1, m, exp & 1 ? mulmod(acc, base, m) : acc);
}

int is_probable_prime(uint32_t n)
{
    if (n < 4)
        return n > 1;
    if (n % 2 == 0)
        return 0;
    uint64_t r = powmod(2, n - 1, n, 1);
    printf("2^(n-1) mod n = %" PRIu64 "\n", r);
    return r == 1;
}
