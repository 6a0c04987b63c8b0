#include <stdint.h>
#include <string.h>

#ifndef WIDTH
#define WIDTH 64
#endif
#ifndef LINES
#define LINES 32
#endif

/* 8 bpp -> 2 bpp e-paper, Floyd-Steinberg, boustrophedon, packed 4 pixels a byte. */

static int nErrA[WIDTH + 2], nErrB[WIDTH + 2];

void EpdDither(const uint8_t *pbSrc, uint8_t *pbDst, const uint8_t abGamma[16])
{
    int *pnCur = nErrA, *pnNext = nErrB;
    memset(nErrA, 0, sizeof nErrA);

    for (int iLine = 0; iLine < LINES; iLine++)
    {
        int nDir = (iLine & 1) ? -1 : 1;
        int x = nDir > 0 ? 0 : WIDTH - 1;

        memset(pnNext, 0, sizeof nErrA);
        memset(pbDst, 0, WIDTH / 4);
        for (int nLeft = WIDTH; nLeft > 0; nLeft--, x += nDir)
        {
            /* tone curve with linear interpolation, 16 knots */
            int v = pbSrc[x], k = v >> 4;
            int g0 = abGamma[k], g1 = k < 15 ? abGamma[k + 1] : 255;
            int nTone = g0 + (((g1 - g0) * (v & 15)) / 16);

            int nWant = nTone + pnCur[x + 1] / 16;
            int nLevel = (nWant * 3 + 127) / 255;
            if (nLevel < 0) nLevel = 0;
            if (nLevel > 3) nLevel = 3;
            int e = nWant - nLevel * 85;
            if (e > 127) e = 127;
            if (e < -127) e = -127;

            pnCur[x + 1 + nDir]  += 7 * e;
            pnNext[x + 1 - nDir] += 3 * e;
            pnNext[x + 1]        += 5 * e;
            pnNext[x + 1 + nDir] += 1 * e;
            pbDst[x >> 2] |= (uint8_t)(nLevel << (6 - 2 * (x & 3)));
        }
        int *t = pnCur; pnCur = pnNext; pnNext = t;
        pbSrc += WIDTH;
        pbDst += WIDTH / 4;
    }
}
