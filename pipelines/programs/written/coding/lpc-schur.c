/* LPC_Analyse: Schur recursion in Q15 (as speech codecs on 16 bit DSPs do), log area ratio
 * quantisation, and short term residual through the quantised lattice. */
#include <stdint.h>

#ifndef SPEECH
#define SPEECH 80
#endif
#define ORD 8

typedef int16_t W16;
typedef int32_t W32;

static W16 mult_r(W16 a, W16 b)
{
    W32 p = ((W32)a * b + 16384) >> 15;
    return (W16)(p > 32767 ? 32767 : p);
}

static W16 add_s(W16 a, W16 b)
{
    W32 s = (W32)a + b;
    return (W16)(s > 32767 ? 32767 : s < -32768 ? -32768 : s);
}

static W16 div_q15(W16 num, W16 den)      /* 0 <= num <= den, den > 0 */
{
    W32 n = num, q = 0;
    if (num == den) return 32767;
    for (int k = 0; k < 15; k++) {
        q <<= 1;
        n <<= 1;
        if (n >= den) { n -= den; q |= 1; }
    }
    return (W16)q;
}

static int norm32(W32 v)                  /* v > 0 */
{
    int n = 0;
    while (v < 0x40000000) { v <<= 1; n++; }
    return n;
}

int lpc_analyse(const W16 *speech, W16 *lar, W16 *residual)
{
    W16 acf[ORD + 1], P[ORD + 1], K[ORD + 2], r[ORD], u[ORD] = {0};
    int n, i, m;
    int64_t full[ORD + 1];

    for (n = 0; n <= ORD; n++) {
        full[n] = 0;
        for (i = n; i < SPEECH; i++) full[n] += (W32)(speech[i] >> 2) * (speech[i - n] >> 2);
    }
    for (n = 0; n < ORD; n++) r[n] = lar[n] = 0;
    int down = 0;
    while ((full[0] >> down) > INT32_MAX) down++;
    W32 e0 = (W32)(full[0] >> down);
    if (e0 == 0) goto filter;

    int sh = norm32(e0);
    for (n = 0; n <= ORD; n++) acf[n] = (W16)((full[n] >> down) * ((int64_t)1 << sh) >> 16);

    for (n = 0; n <= ORD; n++) P[n] = acf[n];
    for (n = 1; n < ORD; n++) K[n] = acf[n];
    K[ORD] = acf[ORD];
    for (n = 0; n < ORD; n++) {
        W16 a = P[1] < 0 ? (W16)(P[1] == -32768 ? 32767 : -P[1]) : P[1];
        if (P[0] <= 0 || P[0] < a)
            break;                         /* unstable: the remaining ones stay 0 */
        r[n] = div_q15(a, P[0]);
        if (P[1] > 0) r[n] = (W16)-r[n];
        P[0] = add_s(P[0], mult_r(P[1], r[n]));
        for (m = 1; m < ORD - n; m++) {
            P[m] = add_s(P[m + 1], mult_r(K[m], r[n]));
            K[m] = add_s(K[m], mult_r(P[m + 1], r[n]));
        }
    }

    /* reflection -> piecewise linear log area ratio -> 6 bits -> back */
    for (n = 0; n < ORD; n++) {
        W32 a = r[n] < 0 ? -(W32)r[n] : r[n], v;
        if (a < 22118)      v = a >> 1;
        else if (a < 31130) v = a - 11059;
        else                v = (a - 26112) * 4;
        v = (v + 256) >> 9;
        lar[n] = (W16)(r[n] < 0 ? -v : v);
        v <<= 9;
        if (v < 11059)      a = v * 2;
        else if (v < 20071) a = v + 11059;
        else                a = (v >> 2) + 26112;
        if (a > 32767) a = 32767;
        r[n] = (W16)(r[n] < 0 ? -a : a);
    }

filter:
    for (i = 0; i < SPEECH; i++) {
        W16 d = speech[i], sav = d;
        for (n = 0; n < ORD; n++) {
            W16 t = u[n];
            u[n] = sav;
            sav = add_s(t, mult_r(r[n], d));
            d = add_s(d, mult_r(r[n], t));
        }
        residual[i] = d;
    }
    return down;
}
