#include <stdint.h>
#include <stdbool.h>

#ifndef DOCIDS
#define DOCIDS 256
#endif
#ifndef UNIVERSE
#define UNIVERSE 16384
#endif
#ifndef QUERIES
#define QUERIES 64
#endif

/* Elias-Fano coded posting list: low bits packed, high bits in unary */
typedef struct EliasFano {
    unsigned lowBits;
    uint32_t low[DOCIDS];                        /* generous */
    uint32_t high[(3 * DOCIDS) / 32 + 2];
    uint16_t rank0[(3 * DOCIDS) / 32 + 2];       /* zeros before each word */
} EliasFano;

static EliasFano ef;

static unsigned log2_floor(uint32_t v)
{
    unsigned r = 0;
    while (v >>= 1) ++r;
    return r;
}

static inline unsigned pop32(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    return ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static void ef_build(EliasFano *e, const uint32_t *ids)
{
    const unsigned words = sizeof e->high / sizeof e->high[0];
    e->lowBits = log2_floor(UNIVERSE / DOCIDS);
    for (unsigned i = 0; i < words; ++i) e->high[i] = 0;
    for (unsigned i = 0; i < DOCIDS; ++i) e->low[i] = 0;

    for (uint32_t i = 0; i < DOCIDS; ++i) {
        uint32_t h = (ids[i] >> e->lowBits) + i;
        uint32_t at = i * e->lowBits;
        for (unsigned b = 0; b < e->lowBits; ++b, ++at)
            e->low[at >> 5] |= (ids[i] >> b & 1u) << (at & 31u);
        e->high[h >> 5] |= 1u << (h & 31u);
    }
    uint16_t zeros = 0;
    for (unsigned i = 0; i < words; ++i) {
        e->rank0[i] = zeros;
        zeros = (uint16_t)(zeros + 32u - pop32(e->high[i]));
    }
}

static uint32_t ef_low(const EliasFano *e, uint32_t i)
{
    uint32_t v = 0, at = i * e->lowBits;
    for (unsigned b = 0; b < e->lowBits; ++b, ++at)
        v |= (e->low[at >> 5] >> (at & 31u) & 1u) << b;
    return v;
}

/* position just behind the k-th zero (k from 1), 0 for k = 0 */
static uint32_t ef_select0(const EliasFano *e, uint32_t k)
{
    uint32_t w = 0, bit;
    if (k == 0) return 0;
    while (w + 1 < sizeof e->high / sizeof e->high[0] && e->rank0[w + 1] < k) ++w;
    k -= e->rank0[w];
    for (bit = 0; bit < 32; ++bit)
        if (!(e->high[w] >> bit & 1u) && --k == 0) break;
    return 32 * w + bit + 1;
}

/* next document >= target, UNIVERSE when there is none */
static uint32_t ef_next_geq(const EliasFano *e, uint32_t target)
{
    uint32_t bucket = target >> e->lowBits;
    uint32_t pos = ef_select0(e, bucket);
    uint32_t i = pos - bucket;

    for (; i < DOCIDS; ++pos) {
        if (e->high[pos >> 5] >> (pos & 31u) & 1u) {
            uint32_t v = bucket << e->lowBits | ef_low(e, i);
            if (v >= target) return v;
            ++i;
        } else
            ++bucket;
    }
    return UNIVERSE;
}

unsigned posting_seek(const uint32_t *ids, const uint32_t *target, uint32_t *found)
{
    unsigned hits = 0;
    ef_build(&ef, ids);
    for (unsigned q = 0; q < QUERIES; ++q) {
        found[q] = ef_next_geq(&ef, target[q]);
        hits += found[q] == target[q];
    }
    return hits;
}
