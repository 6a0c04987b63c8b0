// GHASH as used by Galois/Counter mode, with the 4-bit table method.
// Element order: bit 63 of hi is the coefficient of x^0.

#include <stdint.h>
#include <stddef.h>

#ifndef AAD_LEN
#define AAD_LEN 45
#endif
#ifndef TEXT_LEN
#define TEXT_LEN 200
#endif

typedef struct gf128 { uint64_t hi, lo; } gf128;

typedef struct ghash_key
{
    gf128    multiple[16];   // n * H for all polynomials n of degree < 4
    uint64_t reduce[16];     // what four dropped bits fold back into hi
} ghash_key;

static uint64_t load64be(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; ++i)
        v = (v << 8) | p[i];
    return v;
}

static void store64be(uint8_t *p, uint64_t v)
{
    for (int i = 7; i >= 0; --i, v >>= 8)
        p[i] = (uint8_t)v;
}

static gf128 times_x(gf128 a)
{
    gf128 r;
    r.lo = (a.lo >> 1) | (a.hi << 63);
    r.hi = a.hi >> 1;
    if (a.lo & 1)
        r.hi ^= 0xE1ULL << 56;
    return r;
}

static void ghash_init(ghash_key *k, const uint8_t h[16])
{
    gf128 v = { load64be(h), load64be(h + 8) };

    k->multiple[0] = (gf128){ 0, 0 };
    for (int bit = 8; bit > 0; bit >>= 1)
    {
        k->multiple[bit] = v;
        v = times_x(v);
    }
    for (int n = 3; n < 16; ++n)
    {
        int low = n & -n;
        if (n == low)
            continue;
        k->multiple[n].hi = k->multiple[low].hi ^ k->multiple[n - low].hi;
        k->multiple[n].lo = k->multiple[low].lo ^ k->multiple[n - low].lo;
    }
    for (int n = 0; n < 16; ++n)
    {
        uint64_t r = 0;
        for (int b = 0; b < 4; ++b)
            if (n >> b & 1)
                r ^= (0xE1ULL << 56) >> (3 - b);
        k->reduce[n] = r;
    }
}

static gf128 ghash_step(const ghash_key *k, gf128 y)
{
    gf128 z = { 0, 0 };
    uint64_t half = y.lo;

    for (int nibble = 0; nibble < 32; ++nibble)
    {
        if (nibble == 16)
            half = y.hi;
        unsigned gone = (unsigned)(z.lo & 15);
        z.lo = (z.lo >> 4) | (z.hi << 60);
        z.hi = (z.hi >> 4) ^ k->reduce[gone];
        z.hi ^= k->multiple[half & 15].hi;
        z.lo ^= k->multiple[half & 15].lo;
        half >>= 4;
    }
    return z;
}

static gf128 ghash_absorb(const ghash_key *k, gf128 y, const uint8_t *data, size_t n)
{
    uint8_t block[16];

    while (n > 0)
    {
        size_t take = n < 16 ? n : 16;
        for (size_t i = 0; i < 16; ++i)
            block[i] = i < take ? data[i] : 0;
        y.hi ^= load64be(block);
        y.lo ^= load64be(block + 8);
        y = ghash_step(k, y);
        data += take;
        n -= take;
    }
    return y;
}

void ghash_tag(const uint8_t h[16], const uint8_t mask[16], const uint8_t *aad,
               const uint8_t *text, uint8_t tag[16])
{
    ghash_key key;
    gf128 y = { 0, 0 };

    ghash_init(&key, h);
    y = ghash_absorb(&key, y, aad, AAD_LEN);
    y = ghash_absorb(&key, y, text, TEXT_LEN);
    y.hi ^= 8ULL * AAD_LEN;
    y.lo ^= 8ULL * TEXT_LEN;
    y = ghash_step(&key, y);
    store64be(tag, y.hi);
    store64be(tag + 8, y.lo);
    for (int i = 0; i < 16; ++i)
        tag[i] ^= mask[i];
}
