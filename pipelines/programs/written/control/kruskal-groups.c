/* Kruskal-Wallis test over groups of different sizes, with tie correction, and
 * Dunn's pairwise statistics. Groups are given by offsets into the value array. */
#include <math.h>
#include <stdint.h>
#include <stddef.h>

#ifndef VALUES
#define VALUES 150
#endif
#ifndef GROUPS
#define GROUPS 6
#endif

static uint16_t idx[VALUES];
static double rank_of[VALUES];

static void sift(const int16_t *v, size_t root, size_t n)
{
    for (;;) {
        size_t kid = 2 * root + 1;
        uint16_t t;
        if (kid >= n) return;
        if (kid + 1 < n && v[idx[kid + 1]] > v[idx[kid]]) kid++;
        if (v[idx[root]] >= v[idx[kid]]) return;
        t = idx[root]; idx[root] = idx[kid]; idx[kid] = t;
        root = kid;
    }
}

/* mid-ranks from 1; returns the sum of t^3 - t over ties */
static double rank_values(const int16_t *v)
{
    double ties = 0.0;
    size_t i, n = VALUES;

    for (i = 0; i < n; i++) idx[i] = (uint16_t)i;
    for (i = n / 2; i-- > 0; ) sift(v, i, n);
    while (n > 1) {
        uint16_t t = idx[0];
        idx[0] = idx[--n];
        idx[n] = t;
        sift(v, 0, n);
    }
    for (i = 0; i < VALUES; ) {
        size_t j = i + 1;
        double t;
        while (j < VALUES && v[idx[j]] == v[idx[i]]) j++;
        t = (double)(j - i);
        ties += t * t * t - t;
        for (size_t k = i; k < j; k++) rank_of[idx[k]] = 0.5 * (double)(i + j + 1);
        i = j;
    }
    return ties;
}

/* returns H; *groups counts those with two values or more (smaller ones are left out of dunn) */
double kruskal_wallis(const int16_t *value, const int *offset, double *meanrank, double *dunn, int *groups)
{
    const double n = VALUES;
    double ties = rank_values(value), h = 0.0;
    int used = 0;

    for (int g = 0; g < GROUPS; g++) {
        int size = offset[g + 1] - offset[g];
        double r = 0.0;
        meanrank[g] = 0.0;
        if (size == 0) continue;
        for (int i = offset[g]; i < offset[g + 1]; i++) r += rank_of[i];
        meanrank[g] = r / size;
        h += r * r / size;
        used += size >= 2;
    }
    h = 12.0 / (n * (n + 1)) * h - 3.0 * (n + 1);
    double corr = 1.0 - ties / (n * n * n - n);
    h = corr > 0.0 ? h / corr : 0.0;

    double var = n * (n + 1) / 12.0 - ties / (12.0 * (n - 1));
    for (int a = 0; a < GROUPS; a++)
        for (int b = 0; b < GROUPS; b++) {
            int na = offset[a + 1] - offset[a], nb = offset[b + 1] - offset[b];
            double z = 0.0;
            if (a != b && na >= 2 && nb >= 2 && var > 0.0)
                z = (meanrank[a] - meanrank[b]) / sqrt(var * (1.0 / na + 1.0 / nb));
            dunn[a * GROUPS + b] = z;
        }
    *groups = used;
    return h;
}
