#include <stddef.h>

const int *bsearch_int(const int *lo, const int *hi, int key)
{
    while (lo < hi) {
        const int *mid = lo + (hi - lo) / 2;
        if (*mid < key)
            lo = mid + 1;
        else if (*mid > key)
            hi = mid;
        else
            return mid;
    }
    return NULL;
}

int count_found(const int sorted[64], const int keys[16])
{
    int found = 0;
    for (int i = 0; i < 16; i++)
        if (bsearch_int(sorted, sorted + 64, keys[i]))
            found++;
    return found;
}
