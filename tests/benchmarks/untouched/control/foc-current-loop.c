#include <stdint.h>

/* Field oriented current control, one call per block of 32 PWM periods.
   Currents and voltages in Q15 of the full scale, angle 65536 per turn. */

#define PERIODS 32
#define PWM_TOP 2000

typedef struct {
    int32_t sum;     /* Q15 with 10 more bits */
    int16_t kp;      /* Q12 */
    int16_t ki;
} PiReg;

static const int16_t quarterSine[18] = {
        0,  3212,  6393,  9512, 12539, 15446, 18204, 20787, 23170,
    25329, 27245, 28898, 30273, 31356, 32137, 32609, 32767, 32767
};

static int32_t sat(int32_t v, int32_t lim) { return v > lim ? lim : v < -lim ? -lim : v; }

static int32_t sine(uint16_t angle)
{
    unsigned pos = angle & 0x3FFFu;
    if (angle & 0x4000u) pos = 0x4000u - pos;
    unsigned i = pos >> 10, frac = pos & 0x3FFu;
    int32_t v = quarterSine[i] + (((quarterSine[i + 1] - quarterSine[i]) * (int32_t)frac) >> 10);
    return angle & 0x8000u ? -v : v;
}

static int32_t piStep(PiReg *r, int32_t err)
{
    int32_t out;
    err = sat(err, 32767);
    r->sum = sat(r->sum + ((r->ki * err) >> 6), 30000 << 10);
    out = ((r->kp * err) >> 12) + (r->sum >> 10);
    return sat(out, 30000);
}

/* phase voltages -> compare values; the sector decides who is highest and lowest */
static int modulate(int32_t a, int32_t b, int32_t c, uint16_t *compare)
{
    int sector = (a > b) | (b > c) << 1 | (c > a) << 2;
    int32_t high, low, mid, v[3];

    switch (sector) {
    case 1: high = a; low = c; if (c > b) low = b; break;
    case 2: high = b; low = a; if (c < a) low = c; break;
    case 3: high = a; low = c; break;
    case 4: high = c; low = b; if (a < b) low = a; break;
    case 5: high = c; low = b; break;
    case 6: high = b; low = a; break;
    default: high = a; low = a; break;      /* all three equal */
    }
    mid = (high + low) / 2;
    v[0] = a - mid;
    v[1] = b - mid;
    v[2] = c - mid;
    for (int k = 0; k < 3; k++) {
        int32_t t = PWM_TOP / 2 + v[k] * (PWM_TOP / 2) / 32768;
        if (t < 0) t = 0;
        if (t > PWM_TOP) t = PWM_TOP;
        compare[k] = (uint16_t)t;
    }
    return sector;
}

void focCurrentLoop(const int16_t ia[PERIODS], const int16_t ib[PERIODS], uint16_t angle, int16_t speed,
                    int16_t idRef, int16_t iqRef, uint16_t compare[PERIODS][3], int sectorCount[8])
{
    PiReg d = { 0, 3000, 260 }, q = { 0, 3000, 260 };

    for (int k = 0; k < 8; k++) sectorCount[k] = 0;

    for (int n = 0; n < PERIODS; n++) {
        int32_t s = sine(angle), c = sine((uint16_t)(angle + 0x4000u));

        /* Clarke (sum of the currents is zero), Park */
        int32_t alpha = ia[n];
        int32_t beta = ((ia[n] + 2 * ib[n]) * 18919) / 32768;
        int32_t id = (alpha * c + beta * s) / 32768;
        int32_t iq = (beta * c - alpha * s) / 32768;

        int32_t ud = piStep(&d, idRef - id);
        int32_t uq = piStep(&q, iqRef - iq);

        /* circle limit: the d axis goes first */
        int32_t room = 30000 - (ud < 0 ? -ud : ud) / 2;
        uq = sat(uq, room);

        int32_t ua = (ud * c - uq * s) / 32768;
        int32_t ub = (ud * s + uq * c) / 32768;
        int32_t half = (ub * 28378) / 32768;            /* sqrt(3) / 2 */
        sectorCount[modulate(ua, -ua / 2 + half, -ua / 2 - half, compare[n])]++;

        angle = (uint16_t)(angle + speed);
    }
}
