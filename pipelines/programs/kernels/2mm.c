/* D = alpha A B C + beta D, the product A B kept in a local array. */
#ifndef NI
#define NI 8
#endif
#ifndef NJ
#define NJ 8
#endif
#ifndef NK
#define NK 8
#endif
#ifndef NL
#define NL 8
#endif

void kernel_2mm(int alpha, int beta, int A[NI][NK], int B[NK][NJ], int C[NJ][NL], int D[NI][NL])
{
    int AB[NI][NJ];

    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) {
            AB[i][j] = 0;
            for (int k = 0; k < NK; k++) {
                AB[i][j] += alpha * A[i][k] * B[k][j];
            }
        }
    }
    for (int i = 0; i < NI; i++) {
        for (int l = 0; l < NL; l++) {
            D[i][l] *= beta;
            for (int j = 0; j < NJ; j++) {
                D[i][l] += AB[i][j] * C[j][l];
            }
        }
    }
}
