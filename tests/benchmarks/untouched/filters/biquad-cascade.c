/*
 * biquad-cascade.c - chain of second order sections, transposed direct form II
 *
 * Coefficients come in as three plain arrays because the design tool exports
 * them that way.  The limiter at the end keeps the DAC happy; the caller gets
 * the number of samples it had to touch.
 */

#ifndef SECTIONS
#define SECTIONS 4
#endif
#ifndef BLOCK
#define BLOCK 64
#endif

typedef struct sos {
    float b0, b1, b2;       /* numerator            */
    float a1, a2;           /* denominator, a0 == 1 */
    float z1, z2;           /* delay elements       */
} sos_t;

static sos_t chain[SECTIONS];

static void chain_load(const float *num, const float *a1, const float *a2)
{
    sos_t *s;

    for (s = chain; s < chain + SECTIONS; s++) {
        s->b0 = *num++;
        s->b1 = *num++;
        s->b2 = *num++;
        s->a1 = *a1++;
        s->a2 = *a2++;
        s->z1 = s->z2 = 0.0f;
    }
}

static inline float sos_tick(sos_t *s, float x)
{
    float y = s->b0 * x + s->z1;

    s->z1 = s->b1 * x - s->a1 * y + s->z2;
    s->z2 = s->b2 * x - s->a2 * y;
    return y;
}

int biquad_block(const float *in, float *out,
                 const float *num, const float *a1, const float *a2,
                 float limit)
{
    int i, k;
    int clipped = 0;

    chain_load(num, a1, a2);

    for (i = 0; i < BLOCK; i++) {
        float v = in[i];

        for (k = 0; k < SECTIONS; k++)
            v = sos_tick(&chain[k], v);

        if (v > limit) {
            v = limit;
            clipped++;
        } else if (v < -limit) {
            v = -limit;
            clipped++;
        }
        out[i] = v;
    }
    return clipped;
}
