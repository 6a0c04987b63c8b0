/* PolyBench covariance, small. */

void kernel_covariance(double float_n, double data[100][80], double cov[80][80], double mean[80]) {
  for (int j = 0; j < 80; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < 100; i++) {
      mean[j] += data[i][j];
    }
    mean[j] /= float_n;
  }
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 80; j++) {
      data[i][j] -= mean[j];
    }
  }
  for (int i = 0; i < 80; i++) {
    for (int j = i; j < 80; j++) {
      cov[i][j] = 0.0;
      for (int k = 0; k < 100; k++) {
        cov[i][j] += data[k][i] * data[k][j];
      }
      cov[i][j] /= float_n - 1.0;
      cov[j][i] = cov[i][j];
    }
  }
}
