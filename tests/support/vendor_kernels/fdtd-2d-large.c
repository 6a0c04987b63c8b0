/* PolyBench fdtd-2d, medium. */

void kernel_fdtd_2d(double ex[200][240], double ey[200][240], double hz[200][240], double _fict_[100]) {
  for (int t = 0; t < 100; t++) {
    for (int j = 0; j < 240; j++) {
      ey[0][j] = _fict_[t];
    }
    for (int i = 1; i < 200; i++) {
      for (int j = 0; j < 240; j++) {
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
      }
    }
    for (int i = 0; i < 200; i++) {
      for (int j = 1; j < 240; j++) {
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
      }
    }
    for (int i = 0; i < 199; i++) {
      for (int j = 0; j < 239; j++) {
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
      }
    }
  }
}
