/* a in ascending order, by insertion. */
#ifndef N
#define N 16
#endif

void kernel_insertion_sort(int a[N])
{
    for (int i = 1; i < N; i++) {
        int key = a[i];
        int j = i - 1;
        while (j >= 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
}
