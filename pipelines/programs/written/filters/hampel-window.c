#ifndef LEN
#define LEN 200
#endif
#ifndef HALF
#define HALF 4
#endif
#define WIN (2 * HALF + 1)

/* Hampel identifier: replace a sample by the window median where it is more than
 * k * MAD away. k in eighths. Window kept sorted by insertion and removal. */
static int lower(const int *s, int n, int v)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (s[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void insert_sorted(int *s, int n, int v)
{
    int pos = lower(s, n, v);
    for (int j = n; j > pos; j--) s[j] = s[j - 1];
    s[pos] = v;
}

static void remove_sorted(int *s, int n, int v)
{
    for (int j = lower(s, n, v); j + 1 < n; j++) s[j] = s[j + 1];
}

/* median of |s - med| without a second sort: two runs out from the middle are merged */
static int mad(const int *s, int med)
{
    int l = HALF, r = HALF + 1, dev = 0, taken = 0;
    do {
        int dl = l >= 0 ? med - s[l] : -1;
        int dr = r < WIN ? s[r] - med : -1;
        if (dr < 0 || (dl >= 0 && dl <= dr)) {
            dev = dl;
            l--;
        } else {
            dev = dr;
            r++;
        }
    } while (++taken <= HALF);
    return dev;
}

int hampel(const int raw[LEN], int clean[LEN], int k8)
{
    int sorted[WIN + 1], fixed = 0;

    for (int i = 0; i < HALF; i++) {
        clean[i] = raw[i];
        clean[LEN - 1 - i] = raw[LEN - 1 - i];
    }
    for (int i = 0; i < WIN; i++)
        insert_sorted(sorted, i, raw[i]);

    for (int c = HALF;; c++) {
        int med = sorted[HALF];
        int dist = raw[c] > med ? raw[c] - med : med - raw[c];
        if (8 * dist > k8 * mad(sorted, med)) {
            clean[c] = med;
            fixed++;
        } else
            clean[c] = raw[c];
        if (c + HALF + 1 >= LEN)
            break;
        remove_sorted(sorted, WIN, raw[c - HALF]);
        insert_sorted(sorted, WIN - 1, raw[c + HALF + 1]);
    }
    return fixed;
}
