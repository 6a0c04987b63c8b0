#ifndef WIN
#define WIN 32
#endif
#ifndef BINS
#define BINS 6
#endif
#ifndef SAMPLES
#define SAMPLES 150
#endif

/* Modulated sliding DFT with damping; reports the strongest tracked bin at each step.
   Twiddles come from the caller: (re, im) pairs of one bin spacing, on the unit circle is not required;
   they are normalised here with a Newton step for 1/sqrt. */

struct cplx { float re, im; };

static float rsqrt_newton(float v)
{
    float y = v > 1.0f ? 0.5f : 1.0f;
    for (int it = 0; it < 8; ++it)
        y = y * (1.5f - 0.5f * v * y * y);
    return y;
}

void sdft_track(const float *x, const float *tw, int *best, float *power)
{
    struct cplx w[BINS], bin[BINS];
    float ring[WIN];
    const float r = 0.998f;
    float rn = 1.0f;

    for (int i = 0; i < WIN; ++i) { ring[i] = 0.0f; rn *= r; }
    for (int b = 0; b < BINS; ++b)
    {
        float re = tw[2 * b], im = tw[2 * b + 1];
        float s = rsqrt_newton(re * re + im * im);
        w[b].re = r * re * s;
        w[b].im = r * im * s;
        bin[b].re = bin[b].im = 0.0f;
    }

    int pos = 0;
    for (int n = 0; n < SAMPLES; ++n)
    {
        float delta = x[n] - rn * ring[pos];
        ring[pos] = x[n];
        pos = (pos + 1) % WIN;

        int arg = 0;
        float top = -1.0f;
        for (int b = 0; b < BINS; ++b)
        {
            float re = bin[b].re + delta, im = bin[b].im;
            bin[b].re = re * w[b].re - im * w[b].im;
            bin[b].im = re * w[b].im + im * w[b].re;
            float p = bin[b].re * bin[b].re + bin[b].im * bin[b].im;
            if (p > top) { top = p; arg = b; }
        }
        best[n] = arg;
        power[n] = top;
    }
}
