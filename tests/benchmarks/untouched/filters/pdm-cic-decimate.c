#include <stdint.h>

/* PDM microphone front end.
   One bit stream in (LSB first), 16 bit PCM out.
   sinc^3 (CIC) with 32:1 decimation, then a DC blocker.
   The integrators wrap on purpose. */

#ifndef SAMPLES
#define SAMPLES 24
#endif

#define RATIO  32
#define ORDER  3

struct mic
{
    uint32_t integ[ORDER];
    uint32_t comb[ORDER];
    int32_t  dc_x;
    int32_t  dc_y;
};

static int16_t sat16(int32_t v)
{
    return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (int16_t) v;
}

void pdm_to_pcm(struct mic *m, const uint8_t *pdm, int16_t *pcm, uint8_t *peak)
{
    uint8_t  loud = 0;
    unsigned left = SAMPLES;

    do {
        unsigned k, byte;

        for (byte = 0; byte < RATIO / 8; byte++) {
            uint8_t bits = *pdm++;
            for (k = 8; k; k--, bits >>= 1) {
                m->integ[0] += (bits & 1u) ? 1u : (uint32_t) -1;
                m->integ[1] += m->integ[0];
                m->integ[2] += m->integ[1];
            }
        }

        uint32_t v = m->integ[ORDER - 1];
        for (k = 0; k < ORDER; k++) {
            uint32_t old = m->comb[k];
            m->comb[k] = v;
            v -= old;
        }

        /* gain is RATIO^3 = 2^15, the value fits well into 17 bits */
        int32_t x = (int32_t) v;
        int32_t y = x - m->dc_x + m->dc_y - (m->dc_y >> 7);
        m->dc_x = x;
        m->dc_y = y;

        int16_t s = sat16(y);
        uint8_t a = (uint8_t) ((s < 0 ? -(s + 1) : s) >> 7);
        if (a > loud)
            loud = a;
        *pcm++ = s;
    } while (--left);

    *peak = loud;
}
