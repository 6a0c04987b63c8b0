#include <stdint.h>

#ifndef NTICK
#define NTICK 128
#endif

#define Q15_SQRT3_2   28378      /* sqrt(3)/2 */
#define Q15_INV_SQRT3 18919      /* 1/sqrt(3) */
#define PWM_TOP       2048

/* quarter wave, 32 intervals, linear interpolation; index in 10 bit angle units */
static const int16_t s_awSine[33] = {
    0, 1608, 3212, 4808, 6393, 7962, 9512, 11039, 12539, 14010, 15446, 16846, 18204, 19519, 20787, 22005,
    23170, 24279, 25329, 26319, 27245, 28105, 28898, 29621, 30273, 30852, 31356, 31785, 32137, 32412, 32609, 32728, 32767
};

typedef int16_t q15;

static inline q15 sat15(int32_t l) { return (q15)(l > 32767 ? 32767 : l < -32767 ? -32767 : l); }
static inline int32_t mul15(int32_t a, int32_t b) { return a * b / 32768; }

static q15 sin10(uint16_t wAngle)
{
    uint16_t w = wAngle & 255u;
    if (wAngle & 256u)
        w = (uint16_t)(256u - w);
    int i = w >> 3, f = w & 7;
    int32_t v = s_awSine[i];
    if (f)
        v += (s_awSine[i + 1] - s_awSine[i]) * f / 8;
    return (q15)((wAngle & 512u) ? -v : v);
}

typedef struct { int32_t lKp, lKi, lAcc; } PI_REG;

static q15 PI_Run(PI_REG *p, int32_t lErr, int32_t lMax)
{
    int32_t u = mul15(p->lKp, lErr) + p->lAcc / 256;
    if (u > lMax) u = lMax;
    else if (u < -lMax) u = -lMax;
    else p->lAcc += mul15(p->lKi, lErr);
    return (q15)u;
}

/* One field oriented control cycle per tick: phase currents ia, ib, rotor angle and
   torque demand in; three compare values out. Returns the XOR of the sectors seen. */
uint8_t FOC_Run(const q15 *pwIa, const q15 *pwIb, const uint16_t *pwAngle, const q15 *pwIqRef,
                uint16_t (*pwCompare)[3], uint8_t *pbSector)
{
    PI_REG rD = { 9000, 1200, 0 }, rQ = { 9000, 1200, 0 };
    uint8_t bAll = 0;

    for (int n = 0; n < NTICK; ++n) {
        q15 s = sin10(pwAngle[n]), c = sin10((uint16_t)(pwAngle[n] + 256u));

        /* Clarke, Park */
        int32_t al = pwIa[n];
        int32_t be = mul15(Q15_INV_SQRT3, pwIa[n] + 2 * pwIb[n]);
        int32_t d = mul15(al, c) + mul15(be, s);
        int32_t q = mul15(be, c) - mul15(al, s);

        int32_t vd = PI_Run(&rD, sat15(-d), 16000);
        int32_t vq = PI_Run(&rQ, sat15(pwIqRef[n] - q), 16000);

        /* inverse Park, then projections on the phase axes */
        al = mul15(vd, c) - mul15(vq, s);
        be = mul15(vd, s) + mul15(vq, c);
        int32_t x = be;
        int32_t y = mul15(Q15_SQRT3_2, al) + be / 2;
        int32_t z = be / 2 - mul15(Q15_SQRT3_2, al);
        int32_t t1, t2, t0;
        uint16_t *o = pwCompare[n];
        uint8_t bSect = (uint8_t)((x > 0) | (y < 0 ? 0 : 2) | (z > 0) << 2);

        switch (bSect) {
        case 3: t1 = -z; t2 = x;  break;      /*   0 ..  60 */
        case 7: t1 = y;  t2 = z;  break;      /*  60 .. 120 */
        case 5: t1 = x;  t2 = -y; break;
        case 4: t1 = z;  t2 = -x; break;
        case 0: t1 = -y; t2 = -z; break;
        case 2: t1 = -x; t2 = y;  break;
        default: t1 = t2 = 0;     break;      /* zero vector */
        }
        if (t1 < 0) t1 = 0;
        if (t2 < 0) t2 = 0;
        t1 = t1 * PWM_TOP / 24576;
        t2 = t2 * PWM_TOP / 24576;
        if (t1 + t2 > PWM_TOP) {              /* overmodulation: scale back */
            t2 = t2 * PWM_TOP / (t1 + t2);
            t1 = PWM_TOP - t2;
        }
        t0 = (PWM_TOP - t1 - t2) / 2;
        switch (bSect) {
        case 3:  o[0] = (uint16_t)(t0 + t1 + t2); o[1] = (uint16_t)(t0 + t2); o[2] = (uint16_t)t0; break;
        case 7:  o[0] = (uint16_t)(t0 + t1); o[1] = (uint16_t)(t0 + t1 + t2); o[2] = (uint16_t)t0; break;
        case 5:  o[0] = (uint16_t)t0; o[1] = (uint16_t)(t0 + t1 + t2); o[2] = (uint16_t)(t0 + t2); break;
        case 4:  o[0] = (uint16_t)t0; o[1] = (uint16_t)(t0 + t1); o[2] = (uint16_t)(t0 + t1 + t2); break;
        case 0:  o[0] = (uint16_t)(t0 + t2); o[1] = (uint16_t)t0; o[2] = (uint16_t)(t0 + t1 + t2); break;
        case 2:  o[0] = (uint16_t)(t0 + t1 + t2); o[1] = (uint16_t)t0; o[2] = (uint16_t)(t0 + t1); break;
        default: o[0] = o[1] = o[2] = PWM_TOP / 2; break;
        }
        pbSector[n] = bSect;
        bAll ^= bSect;
    }
    return bAll;
}
