/* PolyBench symm, small, with its two sums in loops of their own and constant trip counts. */

void kernel_symm(double alpha, double beta, double C[60][80], double A[60][60], double B[60][80]) {
  for (int i = 0; i < 60; i++) {
    for (int j = 0; j < 80; j++) {
      double temp2 = 0.0;
      for (int k = 0; k < 60; k++) {
        if (k < i) {
          C[k][j] += alpha * B[i][j] * A[i][k];
        }
      }
      for (int k = 0; k < 60; k++) {
        if (k < i) {
          temp2 += B[k][j] * A[i][k];
        }
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
    }
  }
}
