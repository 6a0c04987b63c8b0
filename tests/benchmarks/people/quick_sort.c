#include <stdio.h>

static void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

static int partition(int *v, int low, int high)
{
    int pivot = v[high], i = low - 1;
    for (int j = low; j < high; j++)
        if (v[j] < pivot)
            swap(&v[++i], &v[j]);
    swap(&v[i + 1], &v[high]);
    return i + 1;
}

void quick_sort(int *v, int low, int high)
{
    if (low >= high)
        return;
    int p = partition(v, low, high);
    quick_sort(v, low, p - 1);
    quick_sort(v, p + 1, high);
}

int main(void)
{
    int v[] = {5, 2, 9, 1, 7, 3};
    quick_sort(v, 0, 5);
    for (int i = 0; i < 6; i++)
        printf("%d ", v[i]);
    putchar('\n');
    return 0;
}
