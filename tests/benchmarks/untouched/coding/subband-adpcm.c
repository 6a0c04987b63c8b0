/* Two-band ADPCM speech coder: QMF split, 4 bits low band, 2 bits high band. */
#include <stdint.h>

#ifndef PAIRS
#define PAIRS 80
#endif

#define SIGN(n)  (((n) > 0) - ((n) < 0))

typedef struct tagBAND {
    int nLog;         /* logarithmic step index */
    int anPole[2];    /* Q14 */
    int anZero[4];    /* Q14 */
    int anRec[2];
    int anDq[4];
    int anPart[2];    /* sign of partial reconstructions */
} BAND;

static const int g_anQmf[6] = { -53, 225, -62, -749, 804, 3939 };
static const int g_anMant[8] = { 32, 35, 38, 41, 45, 49, 54, 59 };
static const int g_anThr4[7] = { 2, 5, 8, 12, 16, 22, 30 };
static const int g_anOut4[8] = { 1, 3, 6, 10, 14, 19, 26, 36 };
static const int g_anAdj4[8] = { -3, -2, -1, 0, 1, 3, 5, 8 };
static const int g_anThr2[1] = { 8 };
static const int g_anOut2[2] = { 4, 14 };
static const int g_anAdj2[2] = { -2, 4 };

static int nLimit(int n, int nLo, int nHi)
{
    if (n < nLo) return nLo;
    if (n > nHi) return nHi;
    return n;
}

static unsigned uCodeBand(BAND *pBand, int nIn, int nLevels,
                          const int *pnThr, const int *pnOut, const int *pnAdj)
{
    int i, nZeroEst = 0, nEst, nDiff, nAbs, nStep, nMag, nDq, nRec, nPart, nSign;

    for (i = 0; i < 4; i++)
        nZeroEst += (pBand->anZero[i] * pBand->anDq[i]) >> 14;
    nEst = nZeroEst + ((pBand->anPole[0] * pBand->anRec[0]) >> 14)
                    + ((pBand->anPole[1] * pBand->anRec[1]) >> 14);
    nEst = nLimit(nEst, -32768, 32767);

    nDiff = nIn - nEst;
    nSign = nDiff < 0;
    nAbs = nSign ? -nDiff : nDiff;
    nStep = (g_anMant[pBand->nLog & 7] << (pBand->nLog >> 3)) >> 3;

    for (nMag = 0; nMag < nLevels - 1; nMag++)
        if (nAbs <= ((pnThr[nMag] * nStep) >> 3))
            break;
    nDq = nLimit((pnOut[nMag] * nStep) >> 3, 0, 32767);
    if (nSign) nDq = -nDq;
    pBand->nLog = nLimit(pBand->nLog + pnAdj[nMag], 0, 79);

    nPart = SIGN(nZeroEst + nDq);
    nRec = nLimit(nEst + nDq, -32768, 32767);

    /* sign-sign gradient, leaky */
    for (i = 0; i < 4; i++) {
        int n = pBand->anZero[i];
        n += 128 * SIGN(nDq) * SIGN(pBand->anDq[i]) - (n >> 8);
        pBand->anZero[i] = nLimit(n, -32000, 32000);
    }
    {
        int nA2 = pBand->anPole[1], nA1 = pBand->anPole[0], nMax;
        int nCorr = nPart * pBand->anPart[0];
        nA2 += 128 * nPart * pBand->anPart[1] - (nA2 >> 7)
             - (nCorr * nLimit(nA1, -8191, 8191) >> 7);
        nA2 = nLimit(nA2, -12288, 12288);
        nA1 += 192 * nCorr - (nA1 >> 8);
        nMax = 15360 - nA2;
        pBand->anPole[0] = nLimit(nA1, -nMax, nMax);
        pBand->anPole[1] = nA2;
    }
    for (i = 3; i > 0; i--)
        pBand->anDq[i] = pBand->anDq[i - 1];
    pBand->anDq[0] = nDq;
    pBand->anRec[1] = pBand->anRec[0];
    pBand->anRec[0] = nRec;
    pBand->anPart[1] = pBand->anPart[0];
    pBand->anPart[0] = nPart;
    return (unsigned)nMag | (nSign ? (unsigned)nLevels : 0u);
}

void SubbandEncode(const int16_t *pwPcm, uint8_t *pbCode, int16_t *pwLowRec)
{
    BAND low = { 16, {0}, {0}, {0}, {0}, {0} };
    BAND high = { 8, {0}, {0}, {0}, {0}, {0} };
    int anDelay[12] = {0};
    int n, i;

    for (n = 0; n < PAIRS; n++) {
        int nEven = 0, nOdd = 0;
        unsigned uLow, uHigh;

        for (i = 11; i > 1; i--)
            anDelay[i] = anDelay[i - 2];
        anDelay[1] = *pwPcm++;
        anDelay[0] = *pwPcm++;

        for (i = 0; i < 6; i++) {
            int nTapE = 2 * i < 6 ? g_anQmf[2 * i] : g_anQmf[11 - 2 * i];
            int nTapO = 2 * i + 1 < 6 ? g_anQmf[2 * i + 1] : g_anQmf[10 - 2 * i];
            nEven += nTapE * anDelay[2 * i];
            nOdd += nTapO * anDelay[2 * i + 1];
        }
        uLow = uCodeBand(&low, nLimit((nEven + nOdd) >> 13, -16384, 16383), 8, g_anThr4, g_anOut4, g_anAdj4);
        uHigh = uCodeBand(&high, nLimit((nEven - nOdd) >> 13, -16384, 16383), 2, g_anThr2, g_anOut2, g_anAdj2);
        *pbCode++ = (uint8_t)(uHigh << 4 | uLow);
        *pwLowRec++ = (int16_t)low.anRec[0];
    }
}
