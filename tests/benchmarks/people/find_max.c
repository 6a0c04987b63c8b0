#include <stddef.h>

/* Return a pointer to the largest element, NULL if empty. */
static const int *find_max(const int *a, size_t n)
{
    const int *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (best == NULL || a[i] > *best)
            best = &a[i];
    return best;
}

int max_or_default(const int values[32], size_t n, int fallback)
{
    if (n > 32)
        n = 32;
    const int *m = find_max(values, n);
    return m ? *m : fallback;
}
