/* PolyBench mvt, medium: x1 = x1 + A y1, x2 = x2 + A^T y2. */

void kernel_mvt(double x1[400], double x2[400], double y_1[400], double y_2[400], double A[400][400]) {
  for (int i = 0; i < 400; i++) {
    for (int j = 0; j < 400; j++) {
      x1[i] += A[i][j] * y_1[j];
    }
  }
  for (int i = 0; i < 400; i++) {
    for (int j = 0; j < 400; j++) {
      x2[i] += A[j][i] * y_2[j];
    }
  }
}
