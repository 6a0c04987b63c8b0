/* MachSuite gemm/ncubed: matrices of 64 x 64. */

void gemm(double m1[4096], double m2[4096], double prod[4096]) {
  for (int i = 0; i < 64; i++) {
    for (int j = 0; j < 64; j++) {
      double sum = 0.0;
      for (int k = 0; k < 64; k++) {
        sum += m1[i * 64 + k] * m2[k * 64 + j];
      }
      prod[i * 64 + j] = sum;
    }
  }
}
