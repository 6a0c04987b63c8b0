#include <stdint.h>
#include <stddef.h>

#ifndef SYMBOLS
#define SYMBOLS 300
#endif

// Adaptive binary range coder with carry, bit trees of eight levels,
// context = high two bits of the previous byte.

#define PROB_BITS 11
#define MOVE      5
#define TOP       (1u << 24)

typedef uint16_t Prob;

typedef struct {
    uint64_t low;
    uint32_t range;
    uint8_t  cache;
    size_t   pending;
    uint8_t *dst;
    size_t   n, cap;
} Coder;

static Prob model[4][256];

static void emit(Coder *c, uint8_t b)
{
    if (c->n < c->cap) c->dst[c->n] = b;
    c->n++;
}

static void shift_low(Coder *c)
{
    if ((uint32_t)c->low < 0xff000000u || (c->low >> 32) != 0) {
        uint8_t carry = (uint8_t)(c->low >> 32);
        uint8_t b = c->cache;
        do {
            emit(c, (uint8_t)(b + carry));
            b = 0xff;
        } while (--c->pending != 0);
        c->cache = (uint8_t)(c->low >> 24);
    }
    c->pending++;
    c->low = (c->low & 0x00ffffffu) << 8;
}

static void code_bit(Coder *c, Prob *p, unsigned bit)
{
    uint32_t bound = (c->range >> PROB_BITS) * *p;
    if (bit == 0) {
        c->range = bound;
        *p = (Prob)(*p + (((1u << PROB_BITS) - *p) >> MOVE));
    } else {
        c->low += bound;
        c->range -= bound;
        *p = (Prob)(*p - (*p >> MOVE));
    }
    while (c->range < TOP) {
        c->range <<= 8;
        shift_low(c);
    }
}

size_t range_encode(const uint8_t *src, uint8_t *dst, size_t cap)
{
    Coder c = { 0, 0xffffffffu, 0, 1, dst, 0, cap };
    uint8_t prev = 0;

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 256; j++)
            model[i][j] = 1u << (PROB_BITS - 1);

    for (size_t i = 0; i < SYMBOLS; i++) {
        Prob *tree = model[prev >> 6];
        unsigned node = 1;
        for (int b = 7; b >= 0; b--) {
            unsigned bit = src[i] >> b & 1u;
            code_bit(&c, &tree[node], bit);
            node = node << 1 | bit;
        }
        prev = src[i];
    }
    for (int i = 0; i < 5; i++)
        shift_low(&c);
    return c.n;
}
