/* In-loop deblocking of all vertical then all horizontal 8x8 edges, strengths per edge unit
   of 4 samples derived from modes and motion. */
#include <stdint.h>
#include <stdlib.h>

#ifndef PW
#define PW 48
#endif
#ifndef PH
#define PH 32
#endif

#define UW (PW / 4)
#define UH (PH / 4)

typedef struct
{
    uint8_t intra;
    int8_t  mvx, mvy;      /* quarter samples */
} UnitInfo;

static UnitInfo g_info[UH][UW];

static int Strength(const UnitInfo *p, const UnitInfo *q)
{
    if (p->intra || q->intra)
        return 2;
    if (abs(p->mvx - q->mvx) >= 4 || abs(p->mvy - q->mvy) >= 4)
        return 1;
    return 0;
}

static uint8_t Clip8(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* s points to q0; step leads across the edge, along leads along it. Returns samples changed. */
static unsigned FilterUnit(uint8_t *s, int step, int along, int beta, int tc)
{
    /* second differences at lines 0 and 3 decide for the whole unit */
    int dp0 = abs(s[-3 * step] - 2 * s[-2 * step] + s[-step]);
    int dq0 = abs(s[2 * step] - 2 * s[step] + s[0]);
    const uint8_t *t = s + 3 * along;
    int dp3 = abs(t[-3 * step] - 2 * t[-2 * step] + t[-step]);
    int dq3 = abs(t[2 * step] - 2 * t[step] + t[0]);
    int d = dp0 + dq0 + dp3 + dq3;

    if (d >= beta)
        return 0;

    int strong = 2 * d < (beta >> 1) && abs(s[-4 * step] - s[-step]) + abs(s[0] - s[3 * step]) < (beta >> 2);
    unsigned changed = 0;
    for (int i = 0; i < 4; i++, s += along)
    {
        int p2 = s[-3 * step], p1 = s[-2 * step], p0 = s[-step];
        int q0 = s[0], q1 = s[step], q2 = s[2 * step];
        if (strong)
        {
            s[-step]     = Clip8((p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3);
            s[-2 * step] = Clip8((p2 + p1 + p0 + q0 + 2) >> 2);
            s[0]         = Clip8((p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3);
            s[step]      = Clip8((p0 + q0 + q1 + q2 + 2) >> 2);
            changed += 4;
            continue;
        }
        int delta = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4;
        if (abs(delta) >= 10 * tc)
            continue;
        delta = delta < -tc ? -tc : delta > tc ? tc : delta;
        s[-step] = Clip8(p0 + delta);
        s[0] = Clip8(q0 - delta);
        changed += 2;
    }
    return changed;
}

unsigned DeblockPicture(uint8_t *pic, const uint8_t *modes, const int8_t *mv, int qp)
{
    unsigned changed = 0;
    const int tc0 = qp < 18 ? 0 : (qp - 14) / 4, beta = qp < 16 ? 0 : 2 * qp - 6;

    for (int y = 0; y < UH; y++)
        for (int x = 0; x < UW; x++)
        {
            int k = y * UW + x;
            g_info[y][x] = (UnitInfo){ modes[k] < 3, mv[2 * k], mv[2 * k + 1] };
        }

    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < UH; y++)
            for (int x = 0; x < UW; x++)
            {
                int pos = pass ? y : x;
                if (pos == 0 || (pos & 1))
                    continue;
                const UnitInfo *q = &g_info[y][x], *p = pass ? q - UW : q - 1;
                int bs = Strength(p, q);
                if (!bs)
                    continue;
                uint8_t *s = pic + y * 4 * PW + x * 4;
                changed += FilterUnit(s, pass ? PW : 1, pass ? 1 : PW, beta, tc0 + 2 * (bs - 1));
            }
    return changed;
}
