/* lower triangle of C = alpha A A^T + beta C. */
#ifndef M
#define M 10
#endif
#ifndef N
#define N 12
#endif

void kernel_syrk(int alpha, int beta, int C[N][N], int A[N][M])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            int sum = 0;
            for (int k = 0; k < M; k++) {
                sum += A[i][k] * A[j][k];
            }
            C[i][j] = alpha * sum + beta * C[i][j];
        }
    }
}
