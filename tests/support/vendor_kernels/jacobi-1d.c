/* PolyBench jacobi-1d, small. */

void kernel_jacobi_1d(double A[120], double B[120]) {
  for (int t = 0; t < 40; t++) {
    for (int i = 1; i < 119; i++) {
      B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    }
    for (int i = 1; i < 119; i++) {
      A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
  }
}
