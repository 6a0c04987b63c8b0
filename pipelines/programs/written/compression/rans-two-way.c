#include <stdint.h>

#ifndef N
#define N 400
#endif

enum { ALPHA = 16, SCALE_BITS = 10, SCALE = 1 << SCALE_BITS };
static const uint32_t RANS_L = 1u << 16;

typedef struct { uint16_t start, freq; } RansSym;

/* scale a histogram to SCALE slots, every present symbol keeps at least one */
static void normalise(const uint8_t *msg, RansSym sym[ALPHA])
{
    uint32_t count[ALPHA] = {0};
    int sum = 0, big = 0;

    for (int i = 0; i < N; i++) count[msg[i] & 15]++;
    for (int s = 0; s < ALPHA; s++) {
        uint32_t f = count[s] * (uint32_t)SCALE / N;
        if (count[s] && !f) f = 1;
        sym[s].freq = (uint16_t)f;
        sum += (int)f;
        if (f > sym[big].freq) big = s;
    }
    sym[big].freq = (uint16_t)(sym[big].freq + SCALE - sum);
    uint16_t at = 0;
    for (int s = 0; s < ALPHA; s++) { sym[s].start = at; at = (uint16_t)(at + sym[s].freq); }
}

static uint16_t *rans_put(uint32_t *x, uint16_t *w, const RansSym *s)
{
    uint64_t max = (uint64_t)(RANS_L >> SCALE_BITS << 16) * s->freq;
    uint32_t v = *x;
    if (v >= max) { *--w = (uint16_t)v; v >>= 16; }
    *x = (v / s->freq << SCALE_BITS) + v % s->freq + s->start;
    return w;
}

/* Encodes backwards into buf (2 lanes), decodes again from the front; returns the
 * number of 16 bit words, negative when the round trip fails. */
int rans_roundtrip(const uint8_t msg[N], uint16_t buf[N + 8], uint8_t back[N])
{
    static uint8_t slot2sym[SCALE];
    RansSym sym[ALPHA] = {{0, 0}};
    uint16_t *w = buf + N + 8;
    uint32_t x[2] = { RANS_L, RANS_L };
    int words, bad = 0;

    normalise(msg, sym);
    for (int s = 0; s < ALPHA; s++)
        for (int k = 0; k < sym[s].freq; k++) slot2sym[sym[s].start + k] = (uint8_t)s;

    for (int i = N - 1; i >= 0; i--)
        w = rans_put(&x[i & 1], w, &sym[msg[i] & 15]);
    for (int lane = 1; lane >= 0; lane--) {
        *--w = (uint16_t)x[lane];
        *--w = (uint16_t)(x[lane] >> 16);
    }
    words = (int)(buf + N + 8 - w);

    for (int lane = 0; lane < 2; lane++) {
        x[lane] = (uint32_t)w[0] << 16 | w[1];
        w += 2;
    }
    for (int i = 0; i < N; i++) {
        uint32_t v = x[i & 1], slot = v & (SCALE - 1);
        const RansSym *s = &sym[slot2sym[slot]];
        back[i] = slot2sym[slot];
        v = s->freq * (v >> SCALE_BITS) + slot - s->start;
        if (v < RANS_L) v = v << 16 | *w++;
        x[i & 1] = v;
        bad += back[i] != (msg[i] & 15);
    }
    return bad ? -bad : words;
}
