#include <stdint.h>
#ifndef WORDS
#define WORDS 16
#endif
#ifndef UNITS
#define UNITS 64
#endif
#ifndef LAYERS
#define LAYERS 2
#endif
/* UNITS == 32 * words of the next layer, WORDS * 32 activations. We keep a ring
 * of WORDS words for every layer, so UNITS may not exceed 32 * WORDS. */

static unsigned bits_set(uint32_t v)
{
    v -= (v >> 1) & 0x55555555u;
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    return (((v + (v >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
}

/* thresholds fold batch norm: bit 15 says that the comparison is reversed */
uint32_t bnn_forward(uint32_t act[WORDS],
                     const uint32_t weight[LAYERS][UNITS][WORDS],
                     const uint16_t thresh[LAYERS][UNITS])
{
    uint32_t next[WORDS];
    for (unsigned l = 0; l < LAYERS; ++l)
    {
        for (unsigned w = 0; w < WORDS; ++w) next[w] = 0;
        for (unsigned u = 0; u < UNITS; ++u)
        {
            const uint32_t *row = weight[l][u];
            unsigned agree = 0;
            for (unsigned w = 0; w < WORDS; ++w)
                agree += bits_set(~(act[w] ^ row[w]));
            unsigned fire = agree >= (thresh[l][u] & 0x7FFFu);
            fire ^= thresh[l][u] >> 15;
            next[u >> 5] |= (uint32_t)fire << (u & 31);
        }
        /* words past the last unit repeat the first ones */
        for (unsigned w = UNITS / 32; w < WORDS; ++w)
            next[w] = next[w - UNITS / 32];
        for (unsigned w = 0; w < WORDS; ++w) act[w] = next[w];
    }
    uint32_t live = 0;
    for (unsigned w = 0; w < UNITS / 32; ++w) live += bits_set(act[w]);
    return live;
}
