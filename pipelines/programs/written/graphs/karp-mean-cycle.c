#ifndef STATES
#define STATES 24
#endif
#ifndef TRANS
#define TRANS 90
#endif

/*
** Least mean weight of a cycle (Karp). Used to bound the initiation interval
** of a loop. Result as a fraction num/den; den == 0 means: no cycle at all.
*/

#define NONE (1L << 40)

typedef struct fraction { long num; long den; } fraction;

static int frac_less(long an, long ad, long bn, long bd)   /* positive denominators */
{
    return an * bd < bn * ad;
}

fraction min_mean_cycle(const unsigned char *tail, const unsigned char *head, const short *weight)
{
    static long best[STATES + 1][STATES];   /* best[k][v]: least walk of exactly k edges */
    fraction answer = { 0, 0 };
    int k, v, e;

    for (v = 0; v < STATES; v++)
        best[0][v] = 0;                     /* every state may start a walk */
    for (k = 1; k <= STATES; k++)
    {
        for (v = 0; v < STATES; v++)
            best[k][v] = NONE;
        for (e = 0; e < TRANS; e++)
            if (best[k - 1][tail[e]] < NONE)
            {
                long w = best[k - 1][tail[e]] + weight[e];
                if (w < best[k][head[e]])
                    best[k][head[e]] = w;
            }
    }

    for (v = 0; v < STATES; v++)
    {
        long num = 0, den = 0;
        if (best[STATES][v] >= NONE)
            continue;
        for (k = 0; k < STATES; k++)
        {
            if (best[k][v] >= NONE)
                continue;
            long n = best[STATES][v] - best[k][v], d = STATES - k;
            if (den == 0 || frac_less(num, den, n, d))
            {
                num = n;
                den = d;
            }
        }
        if (answer.den == 0 || frac_less(num, den, answer.num, answer.den))
        {
            answer.num = num;
            answer.den = den;
        }
    }
    return answer;
}
