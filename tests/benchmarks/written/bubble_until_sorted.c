/* Bubble sort that stops when a pass swaps nothing; returns the passes. */
int bubble_until_sorted(short a[24])
{
    int passes = 0, swapped;
    do {
        swapped = 0;
        for (int i = 0; i < 23; i++) {
            if (a[i] > a[i + 1]) {
                short t = a[i];
                a[i] = a[i + 1];
                a[i + 1] = t;
                swapped = 1;
            }
        }
        passes++;
    } while (swapped);
    return passes;
}
