/* s = A^T r and q = A p in one pass over A. */
#ifndef M
#define M 12
#endif
#ifndef N
#define N 16
#endif

void kernel_bicg(int A[N][M], int s[M], int q[N], int p[M], int r[N])
{
    for (int j = 0; j < M; j++) {
        s[j] = 0;
    }
    for (int i = 0; i < N; i++) {
        int row = r[i];
        int dot = 0;
        for (int j = 0; j < M; j++) {
            int a = A[i][j];
            s[j] += row * a;
            dot += a * p[j];
        }
        q[i] = dot;
    }
}
