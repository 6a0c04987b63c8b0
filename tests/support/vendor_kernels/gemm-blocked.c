/* MachSuite gemm/blocked: matrices of 64 x 64 in blocks of 8. */

void bbgemm(double m1[4096], double m2[4096], double prod[4096]) {
  for (int jj = 0; jj < 64; jj += 8) {
    for (int kk = 0; kk < 64; kk += 8) {
      for (int i = 0; i < 64; i++) {
        for (int k = 0; k < 8; k++) {
          double temp_x = m1[i * 64 + k + kk];
          for (int j = 0; j < 8; j++) {
            prod[i * 64 + j + jj] += temp_x * m2[(k + kk) * 64 + j + jj];
          }
        }
      }
    }
  }
}
