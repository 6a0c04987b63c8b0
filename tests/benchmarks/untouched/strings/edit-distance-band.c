#ifndef LA
#define LA 60
#endif
#ifndef LB
#define LB 64
#endif

#define BIG 30000
#define MIN(a,b) ((a)<(b)?(a):(b))
#define MAX(a,b) ((a)>(b)?(a):(b))

static int rows[3][LB + 1];

/* distance if it is at most t, else something larger.
   only cells with |i-j| <= t are looked at. */
static int banded(const char *a, const char *b, int t)
{
    int i, j;
    int *prev2 = rows[0], *prev = rows[1], *cur = rows[2];

    for (j = 0; j <= LB; j++)
        prev[j] = j <= t ? j : BIG;
    for (i = 1; i <= LA; i++) {
        int lo = MAX(0, i - t), hi = MIN(LB, i + t), *spare;

        if (lo > LB) return BIG;
        if (lo > 0) cur[lo - 1] = BIG;
        for (j = lo; j <= hi; j++) {
            int best;
            if (j == 0) { cur[0] = i; continue; }
            best = prev[j - 1] + (a[i - 1] != b[j - 1]);      /* keep, replace */
            best = MIN(best, prev[j] + 1);                    /* delete */
            best = MIN(best, cur[j - 1] + 1);                 /* insert */
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, prev2[j - 2] + 1);           /* swap neighbours */
            cur[j] = best;
        }
        if (hi < LB) cur[hi + 1] = BIG;
        spare = prev2; prev2 = prev; prev = cur; cur = spare;
    }
    return prev[LB];
}

/* edit distance with swaps of neighbours ("optimal string alignment").
   the band is doubled until it is wide enough; *tries = how often that took */
int edit_distance(const char *a, const char *b, int *tries)
{
    int t = MAX(2, LA > LB ? LA - LB : LB - LA), d;

    *tries = 0;
    for (;;) {
        ++*tries;
        d = banded(a, b, t);
        if (d <= t)
            return d;
        t *= 2;
    }
}

int main(void)
{
    char a[LA], b[LB];
    int i, tries;

    for (i = 0; i < LA; i++) a[i] = 'a' + i % 7;
    for (i = 0; i < LB; i++) b[i] = 'a' + i % 7;
    return edit_distance(a, b, &tries) != MAX(LA, LB) - MIN(LA, LB);
}
