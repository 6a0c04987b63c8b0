/* C = alpha A B + beta C, weights held: a tile of B stays while all rows of A pass by (TPU v1). */
void weight_stationary(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ],
                       DATA_TYPE C[NI][NJ]) {
    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) {
            C[i][j] *= beta;
        }
    }
    for (int kt = 0; kt < NK; kt += TILE) {
        for (int jt = 0; jt < NJ; jt += TILE) {
            DATA_TYPE held[TILE][TILE];
            for (int k = 0; k < TILE; k++) {
                for (int j = 0; j < TILE; j++) {
                    held[k][j] = B[kt + k][jt + j];
                }
            }
            for (int i = 0; i < NI; i++) {
                DATA_TYPE partial[TILE];
                for (int j = 0; j < TILE; j++) {
                    partial[j] = C[i][jt + j];
                }
                for (int k = 0; k < TILE; k++) {
                    DATA_TYPE input = alpha * A[i][kt + k];
                    for (int j = 0; j < TILE; j++) {
                        partial[j] += input * held[k][j];
                    }
                }
                for (int j = 0; j < TILE; j++) {
                    C[i][jt + j] = partial[j];
                }
            }
        }
    }
}
