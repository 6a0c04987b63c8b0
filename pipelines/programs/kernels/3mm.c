/* G = (A B) (C D), with E = A B and F = C D as results too. */
#ifndef NI
#define NI 8
#endif
#ifndef NJ
#define NJ 6
#endif
#ifndef NK
#define NK 8
#endif
#ifndef NL
#define NL 6
#endif
#ifndef NM
#define NM 8
#endif

void kernel_3mm(int A[NI][NK], int B[NK][NJ], int C[NJ][NM], int D[NM][NL], int E[NI][NJ],
                int F[NJ][NL], int G[NI][NL])
{
    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) {
            int sum = 0;
            for (int k = 0; k < NK; k++) {
                sum += A[i][k] * B[k][j];
            }
            E[i][j] = sum;
        }
    }
    for (int j = 0; j < NJ; j++) {
        for (int l = 0; l < NL; l++) {
            int sum = 0;
            for (int m = 0; m < NM; m++) {
                sum += C[j][m] * D[m][l];
            }
            F[j][l] = sum;
        }
    }
    for (int i = 0; i < NI; i++) {
        for (int l = 0; l < NL; l++) {
            int sum = 0;
            for (int j = 0; j < NJ; j++) {
                sum += E[i][j] * F[j][l];
            }
            G[i][l] = sum;
        }
    }
}
