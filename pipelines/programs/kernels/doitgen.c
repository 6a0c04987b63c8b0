/* A[r][q][p] = sum over s of A[r][q][s] W[s][p], in place. */
#ifndef NR
#define NR 4
#endif
#ifndef NQ
#define NQ 4
#endif
#ifndef NP
#define NP 8
#endif

void kernel_doitgen(int A[NR][NQ][NP], int W[NP][NP])
{
    int line[NP];

    for (int r = 0; r < NR; r++) {
        for (int q = 0; q < NQ; q++) {
            for (int p = 0; p < NP; p++) {
                int sum = 0;
                for (int s = 0; s < NP; s++) {
                    sum += A[r][q][s] * W[s][p];
                }
                line[p] = sum;
            }
            for (int p = 0; p < NP; p++) {
                A[r][q][p] = line[p];
            }
        }
    }
}
