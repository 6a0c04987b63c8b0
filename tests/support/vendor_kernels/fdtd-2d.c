/* PolyBench fdtd-2d, small. */

void kernel_fdtd_2d(double ex[60][80], double ey[60][80], double hz[60][80], double _fict_[40]) {
  for (int t = 0; t < 40; t++) {
    for (int j = 0; j < 80; j++) {
      ey[0][j] = _fict_[t];
    }
    for (int i = 1; i < 60; i++) {
      for (int j = 0; j < 80; j++) {
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
      }
    }
    for (int i = 0; i < 60; i++) {
      for (int j = 1; j < 80; j++) {
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
      }
    }
    for (int i = 0; i < 59; i++) {
      for (int j = 0; j < 79; j++) {
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
      }
    }
  }
}
