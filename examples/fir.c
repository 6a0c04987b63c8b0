/* A filter with 16 coefficients: y[n] is the rounded sum of h[k] * x[n + k]. */
void fir(int x[79], int h[16], int y[64]) {
  const int half = 1 << 7;
  for (int n = 0; n < 64; n++) {
    int sum = half;
    for (int k = 0; k < 16; k++) sum += h[k] * x[n + k];
    y[n] = sum >> 8;
  }
}
