#include <string.h>
#ifndef LEN
#define LEN 300
#endif

/* natural merge sort: uses the runs that are already there.
   returns number of rounds */

static int nextRun(long *a, int from)
{
    int to = from + 1;
    if (to >= LEN) return LEN;
    if (a[to] < a[from]) {                /* strictly falling: turn round */
        int l, r;
        while (to < LEN && a[to] < a[to-1]) to++;
        for (l = from, r = to - 1; l < r; l++, r--) {
            long t = a[l];
            a[l] = a[r];
            a[r] = t;
        }
    }
    while (to < LEN && a[to] >= a[to-1]) to++;
    return to;
}

static void merge(long *a, int from, int mid, int to, long *w)
{
    int i = 0, n = mid - from, j = mid, k = from;
    memcpy(w, a + from, (size_t)n * sizeof *w);
    while (i < n && j < to)
        a[k++] = a[j] < w[i] ? a[j++] : w[i++];
    while (i < n)
        a[k++] = w[i++];
}

int natural_merge_sort(long *a, long *w)
{
    int rounds = 0, merges;

    do {
        int from = 0;
        merges = 0;
        while (from < LEN) {
            int mid = nextRun(a, from), to;
            if (mid == LEN) break;
            to = nextRun(a, mid);
            /* nothing to do if the two happen to fit */
            if (a[mid-1] > a[mid])
                merge(a, from, mid, to, w);
            merges++;
            from = to;
        }
        if (merges) rounds++;
    } while (merges);
    return rounds;
}
