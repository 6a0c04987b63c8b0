/* Radix-2 fast Fourier transform in place, decimation in frequency; the result is in bit-reversed order. */
#ifndef POINTS
#define POINTS 32
#endif

struct complex {
    float re;
    float im;
};

static struct complex product(struct complex a, struct complex b)
{
    struct complex c;

    c.re = a.re * b.re - a.im * b.im;
    c.im = a.re * b.im + a.im * b.re;
    return c;
}

/* twiddle k is e^(-2 pi i k / POINTS) */
void fft(float re[POINTS], float im[POINTS], float twiddle_re[POINTS / 2], float twiddle_im[POINTS / 2])
{
    int stride = 1;

    for (int span = POINTS >> 1; span != 0; span >>= 1) {
        int even = 0;

        while (even < POINTS) {
            int odd = even + span;
            struct complex difference, factor;

            difference.re = re[even] - re[odd];
            difference.im = im[even] - im[odd];
            re[even] += re[odd];
            im[even] += im[odd];
            factor.re = twiddle_re[(even & (span - 1)) * stride];
            factor.im = twiddle_im[(even & (span - 1)) * stride];
            difference = product(difference, factor);
            re[odd] = difference.re;
            im[odd] = difference.im;
            even++;
            if (even & span) {
                even += span;
            }
        }
        stride <<= 1;
    }
}
