/* TSTEPS times: B = mean of three neighbours in A, then A likewise from B. */
#ifndef TSTEPS
#define TSTEPS 8
#endif
#ifndef N
#define N 16
#endif

void kernel_jacobi_1d(int A[N], int B[N])
{
    for (int t = 0; t < TSTEPS; t++) {
        for (int i = 1; i < N - 1; i++) {
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3;
        }
        for (int i = 1; i < N - 1; i++) {
            A[i] = (B[i - 1] + B[i] + B[i + 1]) / 3;
        }
    }
}
