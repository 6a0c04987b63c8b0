#include <stdint.h>

#ifndef BLOCK
#define BLOCK 160
#endif

/* 2*cos(2*pi*f/8000) in Q14 for the eight DTMF tones */
static const int32_t DtmfCoef[8] = {
    27980, 26956, 25701, 24219,      /* 697 770 852 941   */
    19073, 16325, 13085,  9315       /* 1209 1336 1477 1633 */
};

static const char DtmfKey[4][4] = {
    { '1', '2', '3', 'A' },
    { '4', '5', '6', 'B' },
    { '7', '8', '9', 'C' },
    { '*', '0', '#', 'D' }
};

static int64_t ToneEnergy(const int16_t *x, int n, int32_t c)
{
    int64_t s0, s1 = 0, s2 = 0;
    for (int i = 0; i < n; ++i)
    {
        s0 = (int64_t)x[i] + ((c * s1) >> 14) - s2;
        s2 = s1;
        s1 = s0;
    }
    return s1 * s1 + s2 * s2 - ((c * s1) >> 14) * s2;
}

static int PickMax(const int64_t *e, int64_t *second)
{
    int best = 0;
    *second = -1;
    for (int i = 1; i < 4; ++i)
    {
        if (e[i] > e[best])
        {
            *second = e[best];
            best = i;
        }
        else if (e[i] > *second)
            *second = e[i];
    }
    return best;
}

/* Returns the key, or '-' for none. The energies are left for the twist meter. */
int DtmfDetect(const int16_t *pcm, int low_tone, int high_tone, int32_t level, int64_t *energies)
{
    int16_t work[BLOCK];
    /* Tone generators: the same resonator, undamped, to put a test key under the noise. */
    int64_t a1 = level, a2 = 0, b1 = level, b2 = 0;
    for (int i = 0; i < BLOCK; ++i)
    {
        int64_t a0 = ((DtmfCoef[low_tone] * a1) >> 14) - a2;
        int64_t b0 = ((DtmfCoef[4 + high_tone] * b1) >> 14) - b2;
        int64_t s = pcm[i] + a0 + b0;
        if (s > 32767) s = 32767;
        if (s < -32768) s = -32768;
        work[i] = (int16_t)s;
        a2 = a1; a1 = a0;
        b2 = b1; b1 = b0;
    }

    int64_t total = 0;
    for (int i = 0; i < BLOCK; ++i)
        total += (int32_t)work[i] * work[i];
    for (int t = 0; t < 8; ++t)
        energies[t] = ToneEnergy(work, BLOCK, DtmfCoef[t]);

    int64_t lo2, hi2;
    int lo = PickMax(energies, &lo2);
    int hi = PickMax(energies + 4, &hi2);

    if (energies[lo] < 4 * lo2) return '-';
    if (energies[4 + hi] < 4 * hi2) return '-';
    if (energies[lo] > 8 * energies[4 + hi] || energies[4 + hi] > 8 * energies[lo])
        return '-';                                       /* twist */
    if ((energies[lo] + energies[4 + hi]) / (BLOCK / 2) < total / 2)
        return '-';                                       /* speech */
    return DtmfKey[lo][hi];
}
