#include <string.h>
#ifndef LEN
#define LEN 128
#endif
#ifndef LEVELS
#define LEVELS 4
#endif

/* integer 5/3 lifting, in place, whole pyramid, symmetric extension. LEN must be a
   multiple of 2^LEVELS. Then a dead zone on the detail bands, counting what survives. */

static short scratch[LEN];

static void one_level(short *d, int n)
{
    int h = n / 2;
    short *lo = scratch, *hi = scratch + h;
    int i;

    for (i = 0; i < h; i++) {
        int right = 2 * i + 2 < n ? d[2 * i + 2] : d[2 * i];
        hi[i] = (short)(d[2 * i + 1] - ((d[2 * i] + right) >> 1));
    }
    for (i = 0; i < h; i++) {
        int left = i ? hi[i - 1] : hi[0];
        lo[i] = (short)(d[2 * i] + ((left + hi[i] + 2) >> 2));
    }
    memcpy(d, scratch, (size_t)n * sizeof *d);
}

int wlt_pyramid53(short data[LEN], int thresh)
{
    int n = LEN, lev, kept = 0;

    for (lev = 0; lev < LEVELS; lev++, n >>= 1) {
        one_level(data, n);
        /* threshold halves with each coarser level */
        int t = thresh >> lev, j;
        for (j = n / 2; j < n; j++) {
            int a = data[j] < 0 ? -data[j] : data[j];
            if (a <= t)
                data[j] = 0;
            else
                kept++;
        }
    }
    return kept;
}
