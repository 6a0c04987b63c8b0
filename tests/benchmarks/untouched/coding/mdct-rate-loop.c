#include <math.h>

#ifndef N
#define N 32          /* lines per frame */
#endif
#ifndef FRAMES
#define FRAMES 4
#endif
#define NBANDS 6
#define OUTER_MAX 4

static float costab[8 * N];
static float sine[2 * N];

static int band_edge(int b) { return N * b * (b + 2) / (NBANDS * (NBANDS + 2)); }

static void make_tables(void)
{
    for (int i = 0; i < 8 * N; i++) costab[i] = cosf(3.14159265f / (4.0f * N) * i);
    for (int i = 0; i < 2 * N; i++) sine[i] = sinf(3.14159265f / (2.0f * N) * (i + 0.5f));
}

static void mdct(const float *in, float *out)
{
    for (int k = 0; k < N; k++) {
        float acc = 0;
        for (int n = 0; n < 2 * N; n++)
            acc += sine[n] * in[n] * costab[(2 * n + 1 + N) * (2 * k + 1) % (8 * N)];
        out[k] = acc * sqrtf(2.0f / N);
    }
}

/* power-law quantiser; x34 holds |x|^(3/4). Gives the number of bits. */
static int quantise(const float *x34, const int *scf, int gain, int *q)
{
    int bits = 0, last = -1;
    for (int b = 0; b < NBANDS; b++) {
        float inv = exp2f(-0.75f * (0.25f * (gain - 60) - 0.5f * scf[b]));
        for (int i = band_edge(b); i < band_edge(b + 1); i++) {
            q[i] = (int)fminf(x34[i] * inv + 0.4054f, 8191.0f);
            if (q[i]) last = i;
        }
    }
    for (int i = 0; i <= last; i++) {
        int v = q[i], len = 1;
        while (v) { len += 2; v >>= 1; }
        bits += len;
    }
    return bits + 6;
}

/* Codes all frames with a constant number of bits each; returns the bits really spent. */
int mdct_rate_loop(const float pcm[(FRAMES + 1) * N], float threshold, int budget,
                   short lines[FRAMES][N], unsigned char scale[FRAMES][NBANDS], unsigned char gains[FRAMES])
{
    int spent = 0, reservoir = 0;
    make_tables();

    for (int f = 0; f < FRAMES; f++) {
        float x[N], x34[N];
        int q[N], scf[NBANDS] = {0}, gain = 0, bits = 0;

        mdct(pcm + f * N, x);
        for (int i = 0; i < N; i++) {
            float a = fabsf(x[i]);
            x34[i] = sqrtf(a * sqrtf(a));
        }

        for (int outer = 0; outer < OUTER_MAX; outer++) {
            /* smallest gain that fits the budget */
            int lo = 0, hi = 127;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (quantise(x34, scf, mid, q) <= budget + reservoir) hi = mid;
                else lo = mid + 1;
            }
            gain = lo;
            bits = quantise(x34, scf, gain, q);
            if (outer == OUTER_MAX - 1) break;

            /* noise against the signal in each band */
            int amplified = 0;
            for (int b = 0; b < NBANDS; b++) {
                float step = exp2f(0.25f * (gain - 60) - 0.5f * scf[b]);
                float noise = 0, energy = 1e-9f;
                for (int i = band_edge(b); i < band_edge(b + 1); i++) {
                    float r = q[i] * cbrtf((float)q[i]) * step;
                    float e = fabsf(x[i]) - r;
                    noise += e * e;
                    energy += x[i] * x[i];
                }
                if (noise > threshold * energy * (1.0f + 0.5f * b)) { scf[b]++; amplified++; }
            }
            if (amplified == 0 || amplified == NBANDS) {
                if (amplified) for (int b = 0; b < NBANDS; b++) scf[b]--;
                break;
            }
        }

        for (int i = 0; i < N; i++) lines[f][i] = (short)(x[i] < 0 ? -q[i] : q[i]);
        for (int b = 0; b < NBANDS; b++) scale[f][b] = (unsigned char)scf[b];
        gains[f] = (unsigned char)gain;
        spent += bits;
        reservoir += budget - bits;
        if (reservoir > budget) reservoir = budget;
        if (reservoir < 0) reservoir = 0;
    }
    return spent;
}
