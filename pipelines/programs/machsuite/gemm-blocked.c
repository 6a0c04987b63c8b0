/* C += A B in float, in blocks: six loops, two of them over blocks of columns and of the inner dimension. */
#ifndef N
#define N 16
#endif
#ifndef BLOCK
#define BLOCK 4
#endif

void gemm_blocked(float A[N * N], float B[N * N], float C[N * N])
{
    int i, k, j, jj, kk;

    for (jj = 0; jj < N; jj += BLOCK) {
        for (kk = 0; kk < N; kk += BLOCK) {
            for (i = 0; i < N; ++i) {
                for (k = 0; k < BLOCK; ++k) {
                    int row = (k + kk) * N;
                    float factor = A[i * N + k + kk];

                    for (j = 0; j < BLOCK; ++j) {
                        C[i * N + j + jj] += factor * B[row + j + jj];
                    }
                }
            }
        }
    }
}
