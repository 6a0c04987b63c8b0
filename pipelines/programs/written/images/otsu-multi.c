/* otsu with K classes by dynamic programming over the grey histogram (exact) */
#ifndef NPX
#define NPX 1024
#endif
#ifndef LEVELS
#define LEVELS 48
#endif
#ifndef K
#define K 4
#endif

static double best[K + 1][LEVELS + 1];
static int cut[K + 1][LEVELS + 1];

double otsu_multi(const unsigned char *px, int *thresholds)
{
    long cnt[LEVELS + 1] = {0}, mom[LEVELS + 1] = {0};
    int i, k, t;

    for (i = 0; i < NPX; i++) {
        int b = px[i] * LEVELS / 256;
        cnt[b + 1]++;
        mom[b + 1] += b;
    }
    for (i = 1; i <= LEVELS; i++) {
        cnt[i] += cnt[i - 1];
        mom[i] += mom[i - 1];
    }

    for (k = 0; k <= K; k++)
        for (i = 0; i <= LEVELS; i++)
            best[k][i] = -1.0;
    best[0][0] = 0.0;

    for (k = 1; k <= K; k++)
        for (i = k; i <= LEVELS; i++)
            for (t = k - 1; t < i; t++) {
                if (best[k - 1][t] < 0.0) continue;
                double n = (double)(cnt[i] - cnt[t]), m = (double)(mom[i] - mom[t]);
                double v = best[k - 1][t] + (n > 0.0 ? m * m / n : 0.0);
                if (v > best[k][i]) {
                    best[k][i] = v;
                    cut[k][i] = t;
                }
            }

    for (k = K, i = LEVELS; k > 1; k--) {
        i = cut[k][i];
        thresholds[k - 2] = i * 256 / LEVELS;
    }
    double total = (double)mom[LEVELS];
    return best[K][LEVELS] - total * total / NPX;   /* between class scatter */
}

#ifdef SELFTEST
int main(void)
{
    static unsigned char px[NPX];
    int t[K - 1];
    for (int i = 0; i < NPX; i++) px[i] = (unsigned char)(i % K * 60 + i % 7);
    return otsu_multi(px, t) > 0.0 ? 0 : 1;
}
#endif
