/* y = alpha A x + beta B x. */
#ifndef N
#define N 12
#endif

void kernel_gesummv(int alpha, int beta, int A[N][N], int B[N][N], int x[N], int y[N])
{
    for (int i = 0; i < N; i++) {
        int ax = 0;
        int bx = 0;
        for (int j = 0; j < N; j++) {
            ax += A[i][j] * x[j];
            bx += B[i][j] * x[j];
        }
        y[i] = alpha * ax + beta * bx;
    }
}
