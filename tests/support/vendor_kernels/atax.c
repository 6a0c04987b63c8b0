/* PolyBench atax, small: y = A^T (A x). */

void kernel_atax(double A[116][124], double x[124], double y[124], double tmp[116]) {
  for (int i = 0; i < 124; i++) {
    y[i] = 0.0;
  }
  for (int i = 0; i < 116; i++) {
    tmp[i] = 0.0;
    for (int j = 0; j < 124; j++) {
      tmp[i] += A[i][j] * x[j];
    }
    for (int j = 0; j < 124; j++) {
      y[j] += A[i][j] * tmp[i];
    }
  }
}
