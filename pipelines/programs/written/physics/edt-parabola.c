#ifndef ROWS
#define ROWS 24
#endif
#ifndef COLS
#define COLS 28
#endif
#define LONGER (ROWS > COLS ? ROWS : COLS)
#define FAR_AWAY 100000

/*
 * Exact squared distance to the next obstacle, for the clearance map of a
 * mobile robot: two passes of the lower envelope of parabolas, all integer.
 */

/* first x at which parabola q (to the right) lies not above p: ceil of the crossing */
static int takeover(const int *f, int p, int q)
{
    int num = (f[q] + q * q) - (f[p] + p * p);
    int den = 2 * (q - p);
    return num >= 0 ? (num + den - 1) / den : -((-num) / den);
}

static void envelope(const int *f, int n, int *d)
{
    int v[LONGER], from[LONGER], k = 0, q, x;

    v[0] = 0;
    from[0] = 0;
    for (q = 1; q < n; q++) {
        int s = takeover(f, v[k], q);
        while (k > 0 && s <= from[k]) {
            k--;
            s = takeover(f, v[k], q);
        }
        if (k == 0 && s <= 0) {
            v[0] = q;
            continue;
        }
        if (s >= n) continue;
        k++;
        v[k] = q;
        from[k] = s;
    }
    q = 0;
    for (x = 0; x < n; x++) {
        while (q < k && from[q + 1] <= x) q++;
        d[x] = (x - v[q]) * (x - v[q]) + f[v[q]];
    }
}

int clearance_map(const unsigned char occupied[ROWS][COLS], int threshold, int dist2[ROWS][COLS])
{
    int in[LONGER], out[LONGER];
    int r, c, max = 0;

    for (c = 0; c < COLS; c++) {
        for (r = 0; r < ROWS; r++) in[r] = occupied[r][c] >= threshold ? 0 : FAR_AWAY;
        envelope(in, ROWS, out);
        for (r = 0; r < ROWS; r++) dist2[r][c] = out[r];
    }
    for (r = 0; r < ROWS; r++) {
        envelope(dist2[r], COLS, out);
        for (c = 0; c < COLS; c++) {
            dist2[r][c] = out[c];
            if (out[c] > max) max = out[c];
        }
    }
    return max;
}
