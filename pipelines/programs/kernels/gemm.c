/* C = alpha A B + beta C. */
#ifndef NI
#define NI 8
#endif
#ifndef NJ
#define NJ 10
#endif
#ifndef NK
#define NK 12
#endif

void kernel_gemm(int alpha, int beta, int C[NI][NJ], int A[NI][NK], int B[NK][NJ])
{
    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) {
            int sum = 0;
            for (int k = 0; k < NK; k++) {
                sum += A[i][k] * B[k][j];
            }
            C[i][j] = alpha * sum + beta * C[i][j];
        }
    }
}
