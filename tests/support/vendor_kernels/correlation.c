/* PolyBench correlation, small. */

#include <math.h>

void kernel_correlation(double float_n, double data[100][80], double corr[80][80], double mean[80],
                        double stddev[80]) {
  double eps = 0.1;
  for (int j = 0; j < 80; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < 100; i++) {
      mean[j] += data[i][j];
    }
    mean[j] /= float_n;
  }
  for (int j = 0; j < 80; j++) {
    stddev[j] = 0.0;
    for (int i = 0; i < 100; i++) {
      stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    }
    stddev[j] /= float_n;
    stddev[j] = sqrt(stddev[j]);
    stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
  }
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 80; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt(float_n) * stddev[j];
    }
  }
  for (int i = 0; i < 79; i++) {
    corr[i][i] = 1.0;
    for (int j = i + 1; j < 80; j++) {
      corr[i][j] = 0.0;
      for (int k = 0; k < 100; k++) {
        corr[i][j] += data[k][i] * data[k][j];
      }
      corr[j][i] = corr[i][j];
    }
  }
  corr[79][79] = 1.0;
}
