/* PolyBench syrk, small, with constant trip counts: C = alpha A A^T + beta C. */

void kernel_syrk(double alpha, double beta, double C[80][80], double A[80][60]) {
  for (int i = 0; i < 80; i++) {
    for (int j = 0; j < 80; j++) {
      if (j <= i) {
        C[i][j] *= beta;
      }
    }
    for (int k = 0; k < 60; k++) {
      for (int j = 0; j < 80; j++) {
        if (j <= i) {
          C[i][j] += alpha * A[i][k] * A[j][k];
        }
      }
    }
  }
}
