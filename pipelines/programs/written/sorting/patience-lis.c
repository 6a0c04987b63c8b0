#include <stddef.h>
#ifndef N
#define N 500
#endif

/* Patience sorting: longest strictly increasing subsequence, with the sequence itself. */
int patience_lis(const int *a, int *seq)
{
    static int pile_top[N];     /* index of the top card of each pile */
    static int prev[N];
    int piles = 0;

    for (int i = 0; i < N; i++) {
        int lo = 0, hi = piles;
        while (lo < hi) {
            int mid = lo + (hi - lo) / 2;
            if (a[pile_top[mid]] < a[i]) lo = mid + 1;
            else hi = mid;
        }
        prev[i] = lo > 0 ? pile_top[lo - 1] : -1;
        pile_top[lo] = i;
        if (lo == piles) piles++;
    }

    int at = pile_top[piles - 1];
    for (int k = piles - 1; k >= 0; k--) {
        seq[k] = a[at];
        at = prev[at];
    }
    for (int k = piles; k < N; k++) seq[k] = -1;
    return piles;
}
