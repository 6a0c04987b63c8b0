#include <stdint.h>
#include <string.h>

#ifndef TAPS
#define TAPS 16
#endif
#ifndef NSMP
#define NSMP 128
#endif

/* Acoustic echo canceller, Q15 signals, Q20 weights, with a Geigel double talk detector.
   far: loudspeaker; mic: microphone; err: cleaned. */

typedef struct {
    int32_t w[TAPS];       /* Q20 */
    int16_t hist[TAPS];
    int     head;
    int     hangover;
} aec_t;

static int16_t sat16(int64_t v) { return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (int16_t)v; }
static int     iabs(int v)      { return v < 0 ? -v : v; }

unsigned aec_process(aec_t *aec, const int16_t *far, const int16_t *mic, int16_t *err, int mu_q8)
{
    unsigned frozen = 0;
    memset(aec, 0, sizeof *aec);

    for (int n = 0; n < NSMP; n++) {
        aec->head = aec->head ? aec->head - 1 : TAPS - 1;
        aec->hist[aec->head] = far[n];

        int64_t y = 0, pow = 1 << 12;
        int peak = 0;
        for (int k = 0, p = aec->head; k < TAPS; k++) {
            int x = aec->hist[p];
            y   += (int64_t)aec->w[k] * x;
            pow += (int64_t)x * x;
            if (iabs(x) > peak) peak = iabs(x);
            if (++p == TAPS) p = 0;
        }
        err[n] = sat16(mic[n] - (y >> 20));

        if (2 * iabs(mic[n]) > 3 * peak)
            aec->hangover = TAPS / 2;
        if (aec->hangover > 0) {           /* near end talks: keep the weights */
            aec->hangover--;
            frozen++;
            continue;
        }

        int64_t g = (int64_t)mu_q8 * err[n] * 4096 / pow;    /* step, Q20 per unit x */
        for (int k = 0, p = aec->head; k < TAPS; k++) {
            int64_t w = aec->w[k] + g * aec->hist[p];
            if (w > (1 << 22))  w = 1 << 22;
            if (w < -(1 << 22)) w = -(1 << 22);
            aec->w[k] = (int32_t)w;
            p = p + 1 == TAPS ? 0 : p + 1;
        }
    }
    return frozen;
}
