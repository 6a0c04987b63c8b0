/* count[b] = values with clamp((value - low) / width, 0, BINS - 1) = b; returns how many clamped. */
#ifndef N
#define N 48
#endif
#ifndef BINS
#define BINS 8
#endif

int kernel_histogram(int low, int width, int value[N], int count[BINS])
{
    int clamped = 0;

    for (int b = 0; b < BINS; b++) {
        count[b] = 0;
    }
    for (int i = 0; i < N; i++) {
        int bin = (value[i] - low) / width;
        if (bin < 0) {
            bin = 0;
            clamped++;
        } else if (bin >= BINS) {
            bin = BINS - 1;
            clamped++;
        }
        count[bin]++;
    }
    return clamped;
}
