#include <string.h>
#include <stdio.h>

static void merge(const int *a, int na, const int *b, int nb, int *out)
{
    int i = 0, j = 0;
    while (i < na && j < nb)
        *out++ = a[i] <= b[j] ? a[i++] : b[j++];
    while (i < na)
        *out++ = a[i++];
    while (j < nb)
        *out++ = b[j++];
}

void merge_sort(int v[32])
{
    int tmp[32];
    for (int width = 1; width < 32; width *= 2) {
        for (int i = 0; i < 32; i += 2 * width)
            merge(v + i, width, v + i + width, width, tmp + i);
        memcpy(v, tmp, sizeof tmp);
    }
}

int main(void)
{
    int v[32];
    for (int i = 0; i < 32; i++)
        v[i] = (i * 37) % 32;
    merge_sort(v);
    for (int i = 0; i < 32; i++)
        printf("%d%c", v[i], i == 31 ? '\n' : ' ');
    return 0;
}
