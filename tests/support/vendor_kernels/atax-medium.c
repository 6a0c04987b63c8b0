/* PolyBench atax, medium: y = A^T (A x). */

void kernel_atax(double A[390][410], double x[410], double y[410], double tmp[390]) {
  for (int i = 0; i < 410; i++) {
    y[i] = 0.0;
  }
  for (int i = 0; i < 390; i++) {
    tmp[i] = 0.0;
    for (int j = 0; j < 410; j++) {
      tmp[i] += A[i][j] * x[j];
    }
    for (int j = 0; j < 410; j++) {
      y[j] += A[i][j] * tmp[i];
    }
  }
}
