#include <stddef.h>
#include <stdint.h>

#ifndef LENGTH
#define LENGTH 128
#endif
#ifndef WIDTH
#define WIDTH 9     /* odd */
#endif

/*
 * Impulse remover for a pressure sensor.
 *
 * A sorted copy of the window slides along with the signal: the leaving value
 * is found by bisection, the entering one is moved to its place by insertion.
 * Only samples which differ from the median by more than the tolerance are
 * replaced. The ends repeat the first / last sample.
 */

static uint16_t sorted_win[WIDTH];

static size_t lower_bound(uint16_t key)
{
    size_t lo = 0, hi = WIDTH;
    while (lo < hi)
    {
        size_t mid = (lo + hi) >> 1;
        if (sorted_win[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void exchange(uint16_t leaving, uint16_t entering)
{
    size_t pos = lower_bound(leaving);

    while (pos + 1 < WIDTH && sorted_win[pos + 1] < entering)
    {
        sorted_win[pos] = sorted_win[pos + 1];
        pos++;
    }
    while (pos > 0 && sorted_win[pos - 1] > entering)
    {
        sorted_win[pos] = sorted_win[pos - 1];
        pos--;
    }
    sorted_win[pos] = entering;
}

static uint16_t sample_at(const uint16_t *x, ptrdiff_t i)
{
    if (i < 0)
        return x[0];
    if (i >= LENGTH)
        return x[LENGTH - 1];
    return x[i];
}

size_t remove_impulses(const uint16_t *x, uint16_t *y, uint16_t tolerance)
{
    const ptrdiff_t half = WIDTH / 2;
    size_t replaced = 0;
    ptrdiff_t i;

    /* window of "sample -1" holds nothing but x[0] and half-1 others */
    for (i = 0; i < WIDTH; i++)
        sorted_win[i] = x[0];
    for (i = 1; i < half; i++)
        exchange(x[0], sample_at(x, i));

    for (i = 0; i < LENGTH; i++)
    {
        exchange(sample_at(x, i - half - 1), sample_at(x, i + half));

        const uint16_t median = sorted_win[half];
        const int32_t diff = (int32_t)x[i] - median;
        if (diff > tolerance || diff < -(int32_t)tolerance)
        {
            y[i] = median;
            replaced++;
        }
        else
        {
            y[i] = x[i];
        }
    }
    return replaced;
}
