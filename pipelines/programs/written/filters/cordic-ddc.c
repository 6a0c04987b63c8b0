/*--------------------------------------------------------------------------
 * ddc_mix  -  digital down conversion
 *   NCO phase accumulator -> CORDIC rotation -> boxcar of DECIM samples
 *--------------------------------------------------------------------------*/
#include <stdint.h>

#ifndef NIN
#define NIN 128
#endif
#ifndef DECIM
#define DECIM 8
#endif
#define STAGES 14

static const int32_t kAtan[STAGES] = {   /* atan(2^-i), full circle = 2^32 */
    536870912, 316933406, 167458907, 85004756, 42667331, 21354465, 10679838,
    5340245, 2670163, 1335087, 667544, 333772, 166886, 83443
};

struct iq { int32_t i, q; };

static struct iq rotate(int32_t x, uint32_t phase)
{
    int32_t i = x, q = 0, t;
    /* into -90..90 degrees */
    if ((phase + 0x40000000u) & 0x80000000u) {
        phase += 0x80000000u;
        i = -i;
    }
    int32_t z = (int32_t)phase;
    for (int s = 0; s < STAGES; s++) {
        if (z >= 0) {
            t = i - (q >> s);
            q = q + (i >> s);
            z -= kAtan[s];
        } else {
            t = i + (q >> s);
            q = q - (i >> s);
            z += kAtan[s];
        }
        i = t;
    }
    struct iq r = { i, q };
    return r;
}

void ddc_mix(const int16_t *adc, uint32_t fcw, uint32_t phase0, struct iq *out)
{
    uint32_t ph = phase0;
    for (int blk = 0; blk < NIN / DECIM; blk++) {
        struct iq acc = {0, 0};
        for (int k = 0; k < DECIM; k++) {
            struct iq r = rotate((int32_t)*adc++ * 256, ph);
            acc.i += r.i / DECIM;
            acc.q += r.q / DECIM;
            ph -= fcw;
        }
        out[blk] = acc;
    }
}
