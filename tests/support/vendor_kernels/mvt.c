/* PolyBench mvt, small: x1 = x1 + A y1, x2 = x2 + A^T y2. */

void kernel_mvt(double x1[120], double x2[120], double y_1[120], double y_2[120], double A[120][120]) {
  for (int i = 0; i < 120; i++) {
    for (int j = 0; j < 120; j++) {
      x1[i] += A[i][j] * y_1[j];
    }
  }
  for (int i = 0; i < 120; i++) {
    for (int j = 0; j < 120; j++) {
      x2[i] += A[j][i] * y_2[j];
    }
  }
}
