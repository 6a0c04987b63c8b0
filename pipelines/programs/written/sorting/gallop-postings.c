#include <stdint.h>
#include <stddef.h>
#ifndef LONGLEN
#define LONGLEN 1500
#endif
#ifndef SHORTLEN
#define SHORTLEN 90
#endif

/* First index >= from with list[index] >= doc, by doubling steps. */
static size_t gallop(const uint32_t *list, size_t from, size_t len, uint32_t doc)
{
    size_t step = 1, lo = from, hi;

    if (from >= len || list[from] >= doc)
        return from;
    while (lo + step < len && list[lo + step] < doc) {
        lo += step;
        step <<= 1;
    }
    hi = lo + step < len ? lo + step : len;
    ++lo;
    while (lo < hi) {
        size_t mid = (lo + hi) >> 1;
        if (list[mid] < doc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/*
 * (rare AND common) with score: docs of the rare list that occur in the common one,
 * runs of equal docs count as term frequency on either side.
 */
size_t postings_and(const uint32_t *rare, const uint32_t *common, uint32_t *doc, uint32_t *score)
{
    size_t r = 0, c = 0, n = 0;

    while (r < SHORTLEN) {
        uint32_t d = rare[r];
        uint32_t tf_r = 0, tf_c = 0;

        while (r < SHORTLEN && rare[r] == d) {
            ++tf_r;
            ++r;
        }
        c = gallop(common, c, LONGLEN, d);
        if (c == LONGLEN)
            break;
        if (common[c] != d)
            continue;
        size_t end = gallop(common, c, LONGLEN, d + 1);
        tf_c = (uint32_t)(end - c);
        c = end;
        doc[n] = d;
        score[n++] = tf_r * 256u / (tf_r + 2u) + tf_c * 256u / (tf_c + 4u);
    }
    return n;
}
