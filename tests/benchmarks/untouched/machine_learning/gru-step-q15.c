// Gated recurrent unit over a short sequence, 16 bit state, 8 bit weights.
//   state, input     Q15
//   weights          Q7
//   pre-activations  Q12
// Gate 0 = update, gate 1 = reset, gate 2 = candidate.

#ifndef IN
#define IN 8
#endif
#ifndef HID
#define HID 12
#endif
#ifndef STEPS
#define STEPS 6
#endif

#define Q15_ONE 32768L

// logistic function at 0, 1/2, 1 ... 8
static const short g_rgsLogistic[17] = {
    16384, 20397, 23955, 26790, 28862, 30282, 31214, 31807, 32179,
    32408, 32549, 32635, 32687, 32719, 32738, 32750, 32757
};

static long lSigmoid(long lX)
{
    long lAbs = lX < 0 ? -lX : lX;
    long lIndex = lAbs >> 11;
    long lY;

    if (lIndex >= 16) {
        lY = g_rgsLogistic[16];
    } else {
        long lFrac = lAbs & 2047;
        long lStep = g_rgsLogistic[lIndex + 1] - g_rgsLogistic[lIndex];
        lY = g_rgsLogistic[lIndex] + ((lStep * lFrac) >> 11);
    }
    return lX < 0 ? Q15_ONE - lY : lY;
}

// tanh(x) = 2 sigmoid(2x) - 1
static long lTanh(long lX)
{
    return 2 * lSigmoid(2 * lX) - Q15_ONE;
}

static long lDot(const signed char *pcW, const short *psV, int iLen)
{
    long lAcc = 0;
    while (iLen-- > 0)
        lAcc += (long)*pcW++ * *psV++;
    return lAcc >> 10;
}

void GruRun(const signed char rgcWx[3][HID][IN],
            const signed char rgcWh[3][HID][HID],
            const short rgsBias[3][HID],
            const short rgsInput[STEPS][IN],
            short rgsState[HID],
            short rgsTrace[STEPS][HID])
{
    int iStep, iUnit;
    short rgsOld[HID];

    for (iStep = 0; iStep < STEPS; iStep++) {
        const short *psX = rgsInput[iStep];

        for (iUnit = 0; iUnit < HID; iUnit++)
            rgsOld[iUnit] = rgsState[iUnit];

        for (iUnit = 0; iUnit < HID; iUnit++) {
            long rglPre[3], rglRec[3];
            int iGate;

            for (iGate = 0; iGate < 3; iGate++) {
                rglPre[iGate] = rgsBias[iGate][iUnit] + lDot(rgcWx[iGate][iUnit], psX, IN);
                rglRec[iGate] = lDot(rgcWh[iGate][iUnit], rgsOld, HID);
            }
            {
                long lZ = lSigmoid(rglPre[0] + rglRec[0]);
                long lR = lSigmoid(rglPre[1] + rglRec[1]);
                long lGated = (long)(((long long)lR * rglRec[2]) >> 15);
                long lN = lTanh(rglPre[2] + lGated);
                long long llMix = (long long)lZ * (rgsOld[iUnit] - lN);

                rgsState[iUnit] = (short)(lN + (long)(llMix >> 15));
            }
            rgsTrace[iStep][iUnit] = rgsState[iUnit];
        }
    }
}
