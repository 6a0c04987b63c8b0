#include <math.h>

#ifndef LINES
#define LINES 64
#endif
#ifndef BANDS
#define BANDS 16
#endif

/* psychoacoustic model of an audio coder, one granule:
 *   line power -> band energy & peakiness -> spread in the Bark domain -> offset by tonality
 *   -> threshold (pre-echo limited by the last granule) -> signal to mask ratio and perceptual entropy
 */

struct psy {
    float last_thr[BANDS];
    float quiet[BANDS];
};

static const float quiet_db[8] = { -20.f, -40.f, -50.f, -55.f, -58.f, -54.f, -40.f, -24.f };

/* band edges: widths grow from 1 line by about 1/6 octave, whatever LINES is */
static int edge(int b)
{
    int e = b * (b + 2) * LINES / (BANDS * (BANDS + 2));
    return e > LINES ? LINES : e;
}

float psy_granule(struct psy *st, const float re[LINES], const float im[LINES], const float prev_thr[BANDS],
                  float smr[BANDS])
{
    float en[BANDS], ton[BANDS], spread[BANDS];
    float pe = 0.0f;

    for (int b = 0; b < BANDS; b++) {
        st->last_thr[b] = prev_thr[b];
        st->quiet[b] = powf(10.0f, 0.1f * quiet_db[b * 8 / BANDS]);
    }

    for (int b = 0; b < BANDS; b++) {
        int lo = edge(b), hi = edge(b + 1);
        if (hi <= lo) hi = lo + 1 > LINES ? LINES : lo + 1;
        if (lo >= hi) lo = hi - 1;
        float sum = 0.0f, logsum = 0.0f;
        for (int k = lo; k < hi; k++) {
            float p = re[k] * re[k] + im[k] * im[k] + 1e-9f;
            sum += p;
            logsum += logf(p);
        }
        float w = (float)(hi - lo);
        en[b] = sum;
        float flat = expf(logsum / w) / (sum / w);      /* 1 noise .. 0 tone */
        ton[b] = hi - lo < 2 ? 0.5f : 1.0f - flat;
    }

    /* recursive spreading: -25 dB per band downwards, -10 dB upwards */
    float carry = 0.0f;
    for (int b = 0; b < BANDS; b++) {
        carry = carry * 0.1f + en[b];
        spread[b] = carry;
    }
    carry = 0.0f;
    for (int b = BANDS - 1; b >= 0; b--) {
        spread[b] += carry;
        carry = (carry + en[b]) * 0.003f;
    }

    for (int b = 0; b < BANDS; b++) {
        float offset_db = ton[b] * (14.5f + 0.5f * (float)b) + (1.0f - ton[b]) * 5.5f;
        float thr = spread[b] * powf(10.0f, -0.1f * offset_db);
        if (thr > 2.0f * st->last_thr[b]) thr = 2.0f * st->last_thr[b];
        if (thr < st->quiet[b]) thr = st->quiet[b];
        st->last_thr[b] = thr;
        smr[b] = 10.0f * log10f(en[b] / thr);
        if (en[b] > thr) pe += log2f(en[b] / thr) * (float)(edge(b + 1) - edge(b));
    }
    return pe;
}
