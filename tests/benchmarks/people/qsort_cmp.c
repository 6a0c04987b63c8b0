#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int median(int v[15])
{
    qsort(v, 15, sizeof v[0], compare);
    return v[7];
}
