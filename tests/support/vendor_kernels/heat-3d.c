/* PolyBench heat-3d, small. */

void kernel_heat_3d(double A[20][20][20], double B[20][20][20]) {
  for (int t = 1; t <= 40; t++) {
    for (int i = 1; i < 19; i++) {
      for (int j = 1; j < 19; j++) {
        for (int k = 1; k < 19; k++) {
          B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                       0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
                       0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
        }
      }
    }
    for (int i = 1; i < 19; i++) {
      for (int j = 1; j < 19; j++) {
        for (int k = 1; k < 19; k++) {
          A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) +
                       0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k]) +
                       0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
        }
      }
    }
  }
}
