/* y = A^T (A x). */
#ifndef M
#define M 12
#endif
#ifndef N
#define N 16
#endif

void kernel_atax(int A[M][N], int x[N], int y[N])
{
    for (int j = 0; j < N; j++) {
        y[j] = 0;
    }
    for (int i = 0; i < M; i++) {
        int dot = 0;
        for (int j = 0; j < N; j++) {
            dot += A[i][j] * x[j];
        }
        for (int j = 0; j < N; j++) {
            y[j] += A[i][j] * dot;
        }
    }
}
