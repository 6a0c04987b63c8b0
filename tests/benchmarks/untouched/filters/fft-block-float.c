#include <stdint.h>

#ifndef POINTS
#define POINTS 64       // power of two, not more than 256
#endif

static const int16_t QuarterSine[65] =
{
        0,   804,  1608,  2411,  3212,  4011,  4808,  5602,  6393,  7180,
     7962,  8740,  9512, 10279, 11039, 11793, 12540, 13279, 14010, 14733,
    15447, 16151, 16846, 17531, 18205, 18868, 19520, 20160, 20788, 21403,
    22006, 22595, 23170, 23732, 24279, 24812, 25330, 25833, 26320, 26791,
    27246, 27684, 28106, 28511, 28899, 29269, 29622, 29957, 30274, 30572,
    30853, 31114, 31357, 31581, 31786, 31972, 32138, 32286, 32413, 32522,
    32610, 32679, 32729, 32758, 32767
};

// 256 steps per turn
static int16_t Sine(unsigned Phase)
{
    Phase &= 255u;
    if (Phase < 64u)
        return QuarterSine[Phase];
    if (Phase < 128u)
        return QuarterSine[128u - Phase];
    if (Phase < 192u)
        return (int16_t) -QuarterSine[Phase - 128u];
    return (int16_t) -QuarterSine[256u - Phase];
}

static void BitReverse(int16_t *Re, int16_t *Im)
{
    unsigned i, j = 0;

    for (i = 0; i + 1 < POINTS; i++)
    {
        unsigned Bit;

        if (i < j)
        {
            int16_t Tmp = Re[i]; Re[i] = Re[j]; Re[j] = Tmp;
            Tmp = Im[i]; Im[i] = Im[j]; Im[j] = Tmp;
        }
        Bit = POINTS >> 1;
        while (j & Bit)
        {
            j ^= Bit;
            Bit >>= 1;
        }
        j |= Bit;
    }
}

// How far must all values be shifted right so that a butterfly cannot
// overflow? It grows a component by up to 1 + sqrt(2).
static int Headroom(const int16_t *Re, const int16_t *Im)
{
    int Peak = 0;
    unsigned i;

    for (i = 0; i < POINTS; i++)
    {
        int a = Re[i] < 0 ? -Re[i] : Re[i];
        int b = Im[i] < 0 ? -Im[i] : Im[i];
        if (a > Peak) Peak = a;
        if (b > Peak) Peak = b;
    }
    if (Peak > 27140) return 2;
    if (Peak > 13570) return 1;
    return 0;
}

// In place, true spectrum = result * 2^exponent. Returns the exponent.
int FftBlockFloat(int16_t Re[POINTS], int16_t Im[POINTS])
{
    int Exponent = 0;
    unsigned Half;

    BitReverse(Re, Im);

    for (Half = 1; Half < POINTS; Half <<= 1)
    {
        const unsigned Step = 128u / Half;
        const int Shift = Headroom(Re, Im);
        unsigned Group, k;

        if (Shift != 0)
        {
            for (k = 0; k < POINTS; k++)
            {
                Re[k] >>= Shift;
                Im[k] >>= Shift;
            }
            Exponent += Shift;
        }

        for (Group = 0; Group < POINTS; Group += 2 * Half)
        {
            for (k = 0; k < Half; k++)
            {
                const int32_t Wr = Sine(k * Step + 64u);
                const int32_t Wi = -Sine(k * Step);
                int16_t *Ar = &Re[Group + k], *Ai = &Im[Group + k];
                int16_t *Br = Ar + Half, *Bi = Ai + Half;
                const int32_t Tr = (*Br * Wr - *Bi * Wi + 0x4000) >> 15;
                const int32_t Ti = (*Br * Wi + *Bi * Wr + 0x4000) >> 15;

                *Br = (int16_t) (*Ar - Tr);
                *Bi = (int16_t) (*Ai - Ti);
                *Ar = (int16_t) (*Ar + Tr);
                *Ai = (int16_t) (*Ai + Ti);
            }
        }
    }
    return Exponent;
}
