#include <stdint.h>
#include <stddef.h>

#ifndef NI
#define NI 12   /* inputs */
#endif
#ifndef NH
#define NH 16   /* hidden */
#endif
#ifndef T
#define T 6     /* time steps */
#endif

enum { GATE_I, GATE_F, GATE_G, GATE_O, NGATES };

static int16_t sat16(int32_t x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : (int16_t)x; }

/* hard sigmoid on Q12 input, Q15 output: clamp(x/4 + 0.5, 0, 1) */
static int16_t sigm(int32_t x)
{
    int32_t y = 2 * x + 16384;
    if (y < 0) return 0;
    return y > 32767 ? 32767 : (int16_t)y;
}

/* piecewise linear tanh, three segments per side, Q12 -> Q15 */
static int16_t tanh_pl(int32_t x)
{
    int neg = x < 0;
    int32_t a = neg ? -x : x, y;
    if (a < 2048)       y = 8 * a - (a >> 1);
    else if (a < 4096)  y = 15360 + (a - 2048) * 4 + ((a - 2048) >> 3);
    else if (a < 12288) y = 23808 + (a - 4096);
    else                y = 32767;
    if (y > 32767) y = 32767;
    return (int16_t)(neg ? -y : y);
}

void lstm_run(const int16_t *x, const int8_t *w, const int8_t *u,
              const int16_t *b, int16_t *h, int16_t *c)
{
    int16_t gate[NGATES][NH];

    for (size_t t = 0; t < T; ++t, x += NI) {
        for (int g = 0; g < NGATES; ++g) {
            for (int j = 0; j < NH; ++j) {
                const int8_t *wp = w + ((size_t)g * NH + j) * NI;
                const int8_t *up = u + ((size_t)g * NH + j) * NH;
                int32_t acc = (int32_t)b[g * NH + j] * 128;
                for (int i = 0; i < NI; ++i) acc += wp[i] * (x[i] >> 3);  /* Q12 * Q7 */
                for (int i = 0; i < NH; ++i) acc += up[i] * (h[i] >> 3);
                acc >>= 7;
                gate[g][j] = (g == GATE_G) ? tanh_pl(acc) : sigm(acc);
            }
        }
        for (int j = 0; j < NH; ++j) {
            int32_t keep = ((int32_t)gate[GATE_F][j] * c[j]) >> 15;          /* c is Q12 */
            int32_t add  = ((int32_t)gate[GATE_I][j] * (gate[GATE_G][j] >> 3)) >> 15;
            c[j] = sat16(keep + add);
            h[j] = sat16(((int32_t)gate[GATE_O][j] * tanh_pl(c[j])) >> 15);
        }
    }
}
