#include <stdint.h>
#include <stdbool.h>

#ifndef MAXBOX
#define MAXBOX 64
#endif

typedef struct tagBox
{
    int16_t nX0, nY0, nX1, nY1;
    uint8_t byScore;
    uint8_t byClass;
    bool    bDead;
} BOX;

static BOX g_aBox[MAXBOX];

static int32_t BoxArea(const BOX *pBox)
{
    return (int32_t)(pBox->nX1 - pBox->nX0) * (pBox->nY1 - pBox->nY0);
}

static int32_t Overlap(const BOX *pA, const BOX *pB)
{
    int nL = pA->nX0 > pB->nX0 ? pA->nX0 : pB->nX0;
    int nT = pA->nY0 > pB->nY0 ? pA->nY0 : pB->nY0;
    int nR = pA->nX1 < pB->nX1 ? pA->nX1 : pB->nX1;
    int nB = pA->nY1 < pB->nY1 ? pA->nY1 : pB->nY1;
    if (nR <= nL || nB <= nT)
        return 0;
    return (int32_t)(nR - nL) * (nB - nT);
}

/* Greedy suppression per class. Threshold is IoU in percent.
   pKeep receives the indices of survivors, best first. */
int SuppressBoxes(const int16_t *pGeom, const uint8_t *pScore, const uint8_t *pClass,
                  uint8_t byMinScore, int nIouPercent, int16_t *pKeep)
{
    int nKept = 0, i, nBest;

    for (i = 0; i < MAXBOX; i++)
    {
        BOX *p = &g_aBox[i];
        p->nX0 = pGeom[4 * i];
        p->nY0 = pGeom[4 * i + 1];
        p->nX1 = (int16_t)(p->nX0 + pGeom[4 * i + 2] / 8 + 1);  /* width, height come in eighths */
        p->nY1 = (int16_t)(p->nY0 + pGeom[4 * i + 3] / 8 + 1);
        p->byScore = pScore[i];
        p->byClass = pClass[i];
        p->bDead = pScore[i] < byMinScore;
    }
    for (;;)
    {
        nBest = -1;
        for (i = 0; i < MAXBOX; i++)
            if (!g_aBox[i].bDead && (nBest < 0 || g_aBox[i].byScore > g_aBox[nBest].byScore))
                nBest = i;
        if (nBest < 0)
            break;
        pKeep[nKept++] = (int16_t)nBest;
        g_aBox[nBest].bDead = true;
        for (i = 0; i < MAXBOX; i++)
        {
            int32_t nInter, nUnion;
            if (g_aBox[i].bDead || g_aBox[i].byClass != g_aBox[nBest].byClass)
                continue;
            nInter = Overlap(&g_aBox[i], &g_aBox[nBest]);
            nUnion = BoxArea(&g_aBox[i]) + BoxArea(&g_aBox[nBest]) - nInter;
            if (100 * nInter > nIouPercent * nUnion)
                g_aBox[i].bDead = true;
        }
    }
    for (i = nKept; i < MAXBOX; i++)
        pKeep[i] = -1;
    return nKept;
}
