/* C = alpha A B + beta C, outputs held: a tile of sums stays while A and B pass by (ShiDianNao). */
void output_stationary(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ],
                       DATA_TYPE C[NI][NJ]) {
    for (int it = 0; it < NI; it += TILE) {
        for (int jt = 0; jt < NJ; jt += TILE) {
            DATA_TYPE held[TILE][TILE];
            for (int i = 0; i < TILE; i++) {
                for (int j = 0; j < TILE; j++) {
                    held[i][j] = 0;
                }
            }
            for (int k = 0; k < NK; k++) {
                DATA_TYPE weight[TILE];
                for (int j = 0; j < TILE; j++) {
                    weight[j] = B[k][jt + j];
                }
                for (int i = 0; i < TILE; i++) {
                    DATA_TYPE input = A[it + i][k];
                    for (int j = 0; j < TILE; j++) {
                        held[i][j] += input * weight[j];
                    }
                }
            }
            for (int i = 0; i < TILE; i++) {
                for (int j = 0; j < TILE; j++) {
                    C[it + i][jt + j] = alpha * held[i][j] + beta * C[it + i][jt + j];
                }
            }
        }
    }
}
