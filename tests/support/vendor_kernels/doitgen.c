/* PolyBench doitgen, small. */

void kernel_doitgen(double A[25][20][30], double C4[30][30], double sum[30]) {
  for (int r = 0; r < 25; r++) {
    for (int q = 0; q < 20; q++) {
      for (int p = 0; p < 30; p++) {
        sum[p] = 0.0;
        for (int s = 0; s < 30; s++) {
          sum[p] += A[r][q][s] * C4[s][p];
        }
      }
      for (int p = 0; p < 30; p++) {
        A[r][q][p] = sum[p];
      }
    }
  }
}
