/* PolyBench gemm, small: C = alpha A B + beta C. */

void kernel_gemm(double alpha, double beta, double C[60][70], double A[60][80], double B[80][70]) {
  for (int i = 0; i < 60; i++) {
    for (int j = 0; j < 70; j++) {
      C[i][j] *= beta;
    }
    for (int k = 0; k < 80; k++) {
      for (int j = 0; j < 70; j++) {
        C[i][j] += alpha * A[i][k] * B[k][j];
      }
    }
  }
}
