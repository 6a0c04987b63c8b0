/* x1 = x1 + A y1 and x2 = x2 + A^T y2. */
#ifndef N
#define N 16
#endif

void kernel_mvt(int x1[N], int x2[N], int y1[N], int y2[N], int A[N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            x1[i] += A[i][j] * y1[j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            x2[i] += A[j][i] * y2[j];
        }
    }
}
