#include <stdint.h>
#include <stddef.h>

#ifndef SYMS
#define SYMS 96
#endif

/*  Adaptive binary range coder with carry propagation (cache byte + run of 0xff), bytes coded as
    bit trees under an order-1 context of the upper 3 bits. Encodes, decodes, compares.
    Return: bytes written, or 0 if the round trip failed. */

#define PROB_INIT  1024
#define PROB_BITS  11
#define MOVE       5
#define TOP        (1u << 24)

struct enc {
    uint64_t low;
    uint32_t range, pending;
    uint8_t  cache, *out;
    size_t   pos, cap;
};

static void enc_emit(struct enc *e, uint8_t b)
{
    if (e->pos < e->cap)
        e->out[e->pos] = b;
    e->pos++;
}

static void enc_shift(struct enc *e)
{
    if ((uint32_t)e->low < 0xff000000u || (e->low >> 32)) {
        uint8_t carry = (uint8_t)(e->low >> 32), b = e->cache;
        do {
            enc_emit(e, (uint8_t)(b + carry));
            b = 0xff;
        } while (--e->pending);
        e->cache = (uint8_t)(e->low >> 24);
    }
    e->pending++;
    e->low = (e->low & 0x00ffffffu) << 8;
}

static void enc_bit(struct enc *e, uint16_t *p, unsigned bit)
{
    uint32_t bound = (e->range >> PROB_BITS) * *p;
    if (!bit) {
        e->range = bound;
        *p = (uint16_t)(*p + (((1 << PROB_BITS) - *p) >> MOVE));
    } else {
        e->low += bound;
        e->range -= bound;
        *p = (uint16_t)(*p - (*p >> MOVE));
    }
    while (e->range < TOP) {
        e->range <<= 8;
        enc_shift(e);
    }
}

struct dec { uint32_t range, code; const uint8_t *in; size_t pos, len; };

static uint8_t dec_next(struct dec *d) { return d->pos < d->len ? d->in[d->pos++] : 0; }

static unsigned dec_bit(struct dec *d, uint16_t *p)
{
    uint32_t bound = (d->range >> PROB_BITS) * *p;
    unsigned bit = d->code >= bound;
    if (!bit) {
        d->range = bound;
        *p = (uint16_t)(*p + (((1 << PROB_BITS) - *p) >> MOVE));
    } else {
        d->code -= bound;
        d->range -= bound;
        *p = (uint16_t)(*p - (*p >> MOVE));
    }
    for (; d->range < TOP; d->range <<= 8)
        d->code = d->code << 8 | dec_next(d);
    return bit;
}

static uint16_t model[8][256];

static void reset(void)
{
    for (int i = 0; i < 8 * 256; i++)
        model[i >> 8][i & 255] = PROB_INIT;
}

size_t rc_roundtrip(const uint8_t *msg, uint8_t *coded, size_t cap)
{
    struct enc e = { 0, 0xffffffffu, 1, 0, coded, 0, cap };
    unsigned ctx = 0;

    reset();
    for (size_t i = 0; i < SYMS; i++) {
        unsigned node = 1;
        for (int b = 7; b >= 0; b--) {
            unsigned bit = msg[i] >> b & 1;
            enc_bit(&e, &model[ctx][node], bit);
            node = node << 1 | bit;
        }
        ctx = msg[i] >> 5;
    }
    for (int i = 0; i < 5; i++)
        enc_shift(&e);
    if (e.pos > cap)
        return 0;

    struct dec d = { 0xffffffffu, 0, coded, 1, e.pos };   /* first byte is always 0 */
    for (int i = 0; i < 4; i++)
        d.code = d.code << 8 | dec_next(&d);
    reset();
    ctx = 0;
    for (size_t i = 0; i < SYMS; i++) {
        unsigned node = 1;
        while (node < 256)
            node = node << 1 | dec_bit(&d, &model[ctx][node]);
        if ((node & 255) != msg[i])
            return 0;
        ctx = (node & 255) >> 5;
    }
    return e.pos;
}
