#ifndef POLYS
#define POLYS 12
#endif
#ifndef CORNERS
#define CORNERS 7
#endif
/* no edge makes more than 3/2 of the points, and there are four edges */
#define MOST (6 * CORNERS)

typedef struct { double dX, dY; } TPoint;
typedef struct { int nPoints; TPoint aPt[MOST]; } TPoly;
typedef struct { double dArea, dCx, dCy; int nLeft; } TResult;

enum { EDGE_LEFT, EDGE_RIGHT, EDGE_BOTTOM, EDGE_TOP, EDGES };

/* signed distance of a point to the inner side of an edge of the window */
static double Inside(int eEdge, const double *pdWindow, const TPoint *pPt)
{
    switch (eEdge) {
        case EDGE_LEFT:   return pPt->dX - pdWindow[0];
        case EDGE_RIGHT:  return pdWindow[2] - pPt->dX;
        case EDGE_BOTTOM: return pPt->dY - pdWindow[1];
        default:          return pdWindow[3] - pPt->dY;
    }
}

static void ClipEdge(const TPoly *pIn, TPoly *pOut, int eEdge, const double *pdWindow)
{
    int i, n = 0;

    pOut->nPoints = 0;
    if (pIn->nPoints == 0) return;
    const TPoint *pPrev = &pIn->aPt[pIn->nPoints - 1];
    double dPrev = Inside(eEdge, pdWindow, pPrev);

    for (i = 0; i < pIn->nPoints; i++) {
        const TPoint *pHere = &pIn->aPt[i];
        double dHere = Inside(eEdge, pdWindow, pHere);
        if ((dHere >= 0.0) != (dPrev >= 0.0)) {
            double t = dPrev / (dPrev - dHere);     /* signs differ */
            pOut->aPt[n].dX = pPrev->dX + t * (pHere->dX - pPrev->dX);
            pOut->aPt[n].dY = pPrev->dY + t * (pHere->dY - pPrev->dY);
            n++;
        }
        if (dHere >= 0.0) pOut->aPt[n++] = *pHere;
        pPrev = pHere;
        dPrev = dHere;
    }
    pOut->nPoints = n;
}

/* Sutherland-Hodgman against the window x0, y0, x1, y1; returns the sum of the
   areas (absolute values). The centre is that of the window where nothing is left. */
double ClipPolygons(const double adX[POLYS][CORNERS], const double adY[POLYS][CORNERS],
                    const double adWindow[4], TResult aRes[POLYS])
{
    static TPoly aWork[2];
    double dSum = 0.0;

    for (int p = 0; p < POLYS; p++) {
        int k, e, cur = 0;

        aWork[0].nPoints = CORNERS;
        for (k = 0; k < CORNERS; k++) {
            aWork[0].aPt[k].dX = adX[p][k];
            aWork[0].aPt[k].dY = adY[p][k];
        }
        for (e = 0; e < EDGES && aWork[cur].nPoints > 0; e++, cur ^= 1)
            ClipEdge(&aWork[cur], &aWork[cur ^ 1], e, adWindow);

        const TPoly *pPoly = &aWork[cur];
        double dTwice = 0.0, dMx = 0.0, dMy = 0.0;
        for (k = 0; k < pPoly->nPoints; k++) {
            const TPoint *a = &pPoly->aPt[k];
            const TPoint *b = &pPoly->aPt[k + 1 == pPoly->nPoints ? 0 : k + 1];
            double dCross = a->dX * b->dY - b->dX * a->dY;
            dTwice += dCross;
            dMx += dCross * (a->dX + b->dX);
            dMy += dCross * (a->dY + b->dY);
        }
        TResult *pRes = &aRes[p];
        pRes->nLeft = pPoly->nPoints;
        pRes->dArea = dTwice / 2.0;
        if (dTwice > 1e-9 || dTwice < -1e-9) {
            pRes->dCx = dMx / (3.0 * dTwice);
            pRes->dCy = dMy / (3.0 * dTwice);
        } else {
            pRes->dCx = (adWindow[0] + adWindow[2]) / 2.0;
            pRes->dCy = (adWindow[1] + adWindow[3]) / 2.0;
        }
        dSum += dTwice < 0.0 ? -pRes->dArea : pRes->dArea;
    }
    return dSum;
}
