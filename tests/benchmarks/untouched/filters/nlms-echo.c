/* Line echo canceller, normalised LMS, 16 bit samples.
 *
 * Weights are Q23 in 32 bit words.  Adaptation stops for a while when the
 * near end talks (Geigel: |mic| larger than half of the loudest far end
 * sample in the window).
 */
#include <stdint.h>
#include <string.h>

#ifndef TAPS
#define TAPS 16              /* power of two! */
#endif
#ifndef LEN
#define LEN 96
#endif

#define HANGOVER   5
#define W_LIMIT    (1 << 24)
#define REGULAR    4096

typedef int16_t q15;

typedef struct {
    q15      line[TAPS];
    int32_t  w[TAPS];
    unsigned head;
    int64_t  power;
    int      hold;
} canceller;

static canceller ec;

static int magnitude(int v) { return v < 0 ? -v : v; }

static void push(canceller *c, q15 x)
{
    c->head = (c->head + TAPS - 1) & (TAPS - 1);
    q15 gone = c->line[c->head];
    c->line[c->head] = x;
    c->power += (int32_t)x * x - (int32_t)gone * gone;
}

static int double_talk(canceller *c, q15 mic)
{
    int peak = 0;
    for (unsigned i = 0; i < TAPS; ++i)
        if (magnitude(c->line[i]) > peak)
            peak = magnitude(c->line[i]);
    if (2 * magnitude(mic) > peak)
        c->hold = HANGOVER;
    return c->hold > 0;
}

static void adapt(canceller *c, int err, int mu)
{
    const int64_t g = (int64_t)err * mu * 32768 / (c->power + REGULAR);

    for (unsigned i = 0; i < TAPS; ++i) {
        int64_t w = c->w[i] + g * c->line[(c->head + i) & (TAPS - 1)];
        if (w > W_LIMIT) w = W_LIMIT;
        if (w < -W_LIMIT) w = -W_LIMIT;
        c->w[i] = (int32_t)w;
    }
}

/* returns how many samples were adapted */
int cancel_echo(const q15 far_end[], const q15 mic[], q15 clean[],
                int32_t weights[TAPS], int mu)
{
    int adapted = 0;

    memset(&ec, 0, sizeof ec);
    for (int n = 0; n < LEN; ++n) {
        push(&ec, far_end[n]);

        int64_t acc = 1 << 22;
        for (unsigned i = 0; i < TAPS; ++i)
            acc += (int64_t)ec.w[i] * ec.line[(ec.head + i) & (TAPS - 1)];

        int e = mic[n] - (int)(acc >> 23);
        if (e > 32767) e = 32767;
        else if (e < -32768) e = -32768;
        clean[n] = (q15)e;

        if (double_talk(&ec, mic[n])) {
            ec.hold--;
            continue;
        }
        adapt(&ec, e, mu);
        ++adapted;
    }
    memcpy(weights, ec.w, sizeof ec.w);
    return adapted;
}
