/* TSTEPS times: B = mean of a five-point star in A, then A likewise from B. */
#ifndef TSTEPS
#define TSTEPS 4
#endif
#ifndef N
#define N 8
#endif

void kernel_jacobi_2d(int A[N][N], int B[N][N])
{
    for (int t = 0; t < TSTEPS; t++) {
        for (int i = 1; i < N - 1; i++) {
            for (int j = 1; j < N - 1; j++) {
                B[i][j] = (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]) / 5;
            }
        }
        for (int i = 1; i < N - 1; i++) {
            for (int j = 1; j < N - 1; j++) {
                A[i][j] = (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]) / 5;
            }
        }
    }
}
