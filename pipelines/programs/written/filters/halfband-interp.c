#include <stdint.h>
#ifndef NIN
#define NIN 64
#endif
#ifndef NSTAGE
#define NSTAGE 2
#endif
/* x2 interpolators in a chain; odd phase is an 8 tap half band (4 distinct), even phase is a delay */
#define HB0 20112
#define HB1 (-5312)
#define HB2 2032
#define HB3 (-448)

static int16_t buf[2][(NIN << NSTAGE)];

static int16_t sat(int32_t v)
{
    if ((int16_t)v != v) v = (v >> 31) ^ 0x7fff;
    return (int16_t)v;
}

static void hb_up2(const int16_t *s, int len, int16_t *d)
{
    int16_t z[8] = {0};
    for (int i = 0; i < len; i++) {
        for (int k = 7; k > 0; k--) z[k] = z[k - 1];
        z[0] = s[i];
        int32_t a = HB0 * (z[3] + z[4]) + HB1 * (z[2] + z[5])
                  + HB2 * (z[1] + z[6]) + HB3 * (z[0] + z[7]);
        *d++ = z[4];
        *d++ = sat((a + (1 << 14)) >> 15);
    }
}

int32_t hb_interpolate(const int16_t *x, int16_t *y)
{
    int len = NIN, cur = 0;
    int32_t peak = 0;

    for (int i = 0; i < NIN; i++) buf[0][i] = x[i];
    for (int s = 0; s < NSTAGE; s++) {
        hb_up2(buf[cur], len, buf[cur ^ 1]);
        cur ^= 1;
        len *= 2;
    }
    for (int i = 0; i < len; i++) {
        y[i] = buf[cur][i];
        int32_t m = y[i] < 0 ? -y[i] : y[i];
        if (m > peak) peak = m;
    }
    return peak;
}
