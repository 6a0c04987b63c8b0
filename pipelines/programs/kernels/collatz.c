/* steps[i] = steps of the Collatz map from start[i] to 1; returns the most. */
#ifndef N
#define N 16
#endif

int kernel_collatz(int start[N], int steps[N])
{
    int most = 0;

    for (int i = 0; i < N; i++) {
        int n = start[i];
        int count = 0;
        while (n > 1) {
            n = (n & 1) ? 3 * n + 1 : n >> 1;
            count++;
        }
        steps[i] = count;
        most = count > most ? count : most;
    }
    return most;
}
