/* PolyBench gemm, medium: C = alpha A B + beta C. */

void kernel_gemm(double alpha, double beta, double C[200][220], double A[200][240], double B[240][220]) {
  for (int i = 0; i < 200; i++) {
    for (int j = 0; j < 220; j++) {
      C[i][j] *= beta;
    }
    for (int k = 0; k < 240; k++) {
      for (int j = 0; j < 220; j++) {
        C[i][j] += alpha * A[i][k] * B[k][j];
      }
    }
  }
}
