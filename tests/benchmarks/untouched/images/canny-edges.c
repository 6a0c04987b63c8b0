#include <stdint.h>
#include <string.h>

#ifndef W
#define W 32
#endif
#ifndef H
#define H 32
#endif

#define MARK_NONE    0
#define MARK_WEAK    1
#define MARK_STRONG  255

static int16_t  g_nMag[H * W];
static int16_t  g_nStep[H * W];     // offset to the neighbour along the gradient
static uint16_t g_wStack[H * W];

static inline int Abs(int n)
{
    return n < 0 ? -n : n;
}

static void Gradient(const uint8_t *pbSrc)
{
    memset(g_nMag, 0, sizeof(g_nMag));

    for (int y = 1; y < H - 1; y++)
    {
        for (int x = 1; x < W - 1; x++)
        {
            const int nPos = y * W + x;
            const uint8_t *pb = pbSrc + nPos;
            const int nGx = (pb[1 - W] + 2 * pb[1] + pb[1 + W])
                          - (pb[-1 - W] + 2 * pb[-1] + pb[-1 + W]);
            const int nGy = (pb[W - 1] + 2 * pb[W] + pb[W + 1])
                          - (pb[-W - 1] + 2 * pb[-W] + pb[-W + 1]);
            const int nAx = Abs(nGx), nAy = Abs(nGy);

            g_nMag[nPos] = (int16_t)(nAx + nAy);

            // sectors of 45 degrees, tan(22.5) taken as 2/5
            if (5 * nAy < 2 * nAx)
                g_nStep[nPos] = 1;
            else if (5 * nAx < 2 * nAy)
                g_nStep[nPos] = W;
            else if ((nGx < 0) == (nGy < 0))
                g_nStep[nPos] = W + 1;
            else
                g_nStep[nPos] = W - 1;
        }
    }
}

// Edge map: 255 on edges, 0 elsewhere. Returns the number of edge pixels.
int CannyEdges(const uint8_t *pbSrc, uint8_t *pbEdge, int nLow, int nHigh)
{
    int nTop = 0, nEdges = 0;

    Gradient(pbSrc);
    memset(pbEdge, MARK_NONE, H * W);

    // thin to ridges, remember the certain ones on the stack
    for (int y = 1; y < H - 1; y++)
    {
        for (int x = 1; x < W - 1; x++)
        {
            const int nPos = y * W + x;
            const int nMag = g_nMag[nPos];

            if (nMag < nLow)
                continue;
            if (nMag < g_nMag[nPos + g_nStep[nPos]])
                continue;
            if (nMag <= g_nMag[nPos - g_nStep[nPos]])
                continue;

            if (nMag >= nHigh)
            {
                pbEdge[nPos] = MARK_STRONG;
                g_wStack[nTop++] = (uint16_t)nPos;
            }
            else
            {
                pbEdge[nPos] = MARK_WEAK;
            }
        }
    }

    // hysteresis: weak pixels that hang on a strong one
    while (nTop > 0)
    {
        const int nPos = g_wStack[--nTop];

        nEdges++;
        for (int dy = -W; dy <= W; dy += W)
        {
            for (int dx = -1; dx <= 1; dx++)
            {
                uint8_t *pb = &pbEdge[nPos + dy + dx];
                if (*pb == MARK_WEAK)
                {
                    *pb = MARK_STRONG;
                    g_wStack[nTop++] = (uint16_t)(nPos + dy + dx);
                }
            }
        }
    }

    for (int n = 0; n < H * W; n++)
    {
        if (pbEdge[n] == MARK_WEAK)
            pbEdge[n] = MARK_NONE;
    }
    return nEdges;
}
