#include <stdint.h>

#ifndef MINUTES
#define MINUTES 400
#endif

/* BMS fuel gauge: coulomb counter, corrected from the open circuit voltage table
 * after rest, with temperature derating, cycle counting and alarms. */

typedef int32_t s32;

static const struct { uint16_t mv; uint16_t permille; } ocv_table[] = {
    { 3000, 0 }, { 3300, 40 }, { 3450, 90 }, { 3550, 180 }, { 3620, 300 }, { 3680, 430 },
    { 3760, 560 }, { 3860, 700 }, { 3980, 830 }, { 4080, 920 }, { 4200, 1000 },
};
#define OCV_N ((int)(sizeof ocv_table / sizeof ocv_table[0]))

static s32 ocv_lookup(s32 mv)
{
    int lo = 0, hi = OCV_N - 1;

    if (mv <= ocv_table[0].mv) return 0;
    if (mv >= ocv_table[hi].mv) return 1000;
    while (hi - lo > 1) {
        int mid = (lo + hi) >> 1;
        if (ocv_table[mid].mv <= mv) lo = mid;
        else hi = mid;
    }
    return ocv_table[lo].permille + (mv - ocv_table[lo].mv) * (ocv_table[hi].permille - ocv_table[lo].permille)
           / (ocv_table[hi].mv - ocv_table[lo].mv);
}

#define ALARM_LOW   0x01u
#define ALARM_EMPTY 0x02u
#define ALARM_COLD  0x04u
#define ALARM_OVER  0x08u

/* current: mA, positive = discharge; temp: deg C. soc in permille per minute. */
uint8_t gauge_run(const int16_t *current, const int8_t *temp, const uint8_t *duty, s32 capacity_mah, s32 rint_mohm,
                  uint16_t *soc, uint16_t *alarms_at, s32 *cycles_milli)
{
    /* charge in mA minutes */
    s32 full = capacity_mah * 60, charge = full / 2, through = 0, bias = 0;
    uint8_t latched = 0, rest = 0;

    for (int m = 0; m < MINUTES; m++) {
        /* duty: below 96 the load is off, to let the cell rest now and then */
        s32 i = duty[(m / 16) % 16] < 96 ? 0 : current[m];
        s32 usable = full;
        s32 pm, mv;
        uint8_t now = 0;

        if (temp[m] < 0) {
            usable = full - full / 100 * -temp[m];
            now |= ALARM_COLD;
        }
        charge -= i + bias / 16;
        if (charge < 0) charge = 0;
        if (charge > full) { charge = full; now |= ALARM_OVER; }
        through += i < 0 ? -i : i;

        /* simulated terminal voltage: linear cell plus drop on the inner resistance */
        mv = 3100 + charge / (full / 1050 + 1) - i * rint_mohm / 1000;

        rest = i > -20 && i < 20 ? (uint8_t)(rest < 250 ? rest + 1 : 250) : 0;
        if (rest >= 10 && rest % 5 == 0) {
            s32 from_ocv = ocv_lookup(mv) * (full / 1000);
            s32 err = from_ocv - charge;
            charge += err / 8;
            bias -= err / 4096;
            if (bias > 400) bias = 400;
            if (bias < -400) bias = -400;
        }
        pm = (charge - (full - usable)) / (usable / 1000 + 1);
        if (pm < 0) pm = 0;
        if (pm > 1000) pm = 1000;
        soc[m] = (uint16_t)pm;

        if (pm < 150) now |= ALARM_LOW;
        if (pm == 0 || mv < 3000) now |= ALARM_EMPTY;
        for (uint8_t fresh = (uint8_t)(now & ~latched), bit = 0; fresh; fresh >>= 1, bit++)
            if (fresh & 1u) alarms_at[bit] = (uint16_t)m;
        latched |= now;
    }
    *cycles_milli = through / (2 * full / 1000);
    return latched;
}
