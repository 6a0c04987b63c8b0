/* C = alpha A B + beta C, inputs held: a tile of A stays while all columns of B pass by (Eyeriss). */
void input_stationary(DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ],
                      DATA_TYPE C[NI][NJ]) {
    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) {
            C[i][j] *= beta;
        }
    }
    for (int it = 0; it < NI; it += TILE) {
        for (int kt = 0; kt < NK; kt += TILE) {
            DATA_TYPE held[TILE][TILE];
            for (int i = 0; i < TILE; i++) {
                for (int k = 0; k < TILE; k++) {
                    held[i][k] = alpha * A[it + i][kt + k];
                }
            }
            for (int j = 0; j < NJ; j++) {
                DATA_TYPE weight[TILE];
                for (int k = 0; k < TILE; k++) {
                    weight[k] = B[kt + k][j];
                }
                for (int i = 0; i < TILE; i++) {
                    DATA_TYPE sum = C[it + i][j];
                    for (int k = 0; k < TILE; k++) {
                        sum += held[i][k] * weight[k];
                    }
                    C[it + i][j] = sum;
                }
            }
        }
    }
}
