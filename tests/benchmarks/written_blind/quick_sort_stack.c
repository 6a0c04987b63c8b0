#define N 40
/* Quicksort without recursion: ranges wait on a stack. */
#pragma simfoundry range v=-1000:1000
void quick_sort_stack(int v[N])
{
    int stack[2 * N], sp = 0;
    stack[sp++] = 0;
    stack[sp++] = N - 1;
    while (sp > 0) {
        int hi = stack[--sp], lo = stack[--sp];
        if (lo >= hi)
            continue;
        int pivot = v[(lo + hi) / 2], i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (lo < j) {
            stack[sp++] = lo;
            stack[sp++] = j;
        }
        if (i < hi) {
            stack[sp++] = i;
            stack[sp++] = hi;
        }
    }
}
