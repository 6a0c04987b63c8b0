/* forward substitution for L x = b, each quotient truncated towards zero. */
#ifndef N
#define N 16
#endif

void kernel_trisolv(int L[N][N], int x[N], int b[N])
{
    for (int i = 0; i < N; i++) {
        int rest = b[i];
        for (int j = 0; j < i; j++) {
            rest -= L[i][j] * x[j];
        }
        x[i] = rest / L[i][i];
    }
}
