#ifndef FHT_N
#define FHT_N 64
#endif

static const float CosLadder[] = { /* cos(2pi/2^k), k = 1.. */
    -1.0f, 0.0f, 0.70710678f, 0.92387953f, 0.98078528f, 0.99518473f, 0.99879546f, 0.99969882f, 0.9999247f, 0.99998118f
};
static const float SinLadder[] = {
    0.0f, 1.0f, 0.70710678f, 0.38268343f, 0.19509032f, 0.09801714f, 0.04906767f, 0.02454123f, 0.01227154f, 0.00613588f
};

// fast Hartley transform in place, then |H|^2 + |H(-k)|^2 gives the power spectrum
void fht_power(float *h, float *pw)
{
  int i, j, k, m, stage;

  for (i = 0, j = 0; i < FHT_N - 1; i++) {
    if (i < j) { float t = h[i]; h[i] = h[j]; h[j] = t; }
    m = FHT_N >> 1;
    while (j & m) { j ^= m; m >>= 1; }
    j |= m;
  }

  for (stage = 0, m = 1; m < FHT_N; m <<= 1, stage++) {
    for (i = 0; i < FHT_N; i += 2 * m) {
      float *a = h + i, *b = a + m;
      float c = 1.0f, s = 0.0f;
      float cs = CosLadder[stage], sn = SinLadder[stage];
      float tmp[FHT_N / 2];
      // b'[k] = b[k] cos + b[m-k] sin
      for (k = 0; k < m; k++) {
        tmp[k] = b[k] * c + b[(m - k) & (m - 1)] * s;
        float cn = c * cs - s * sn;
        s = s * cs + c * sn;
        c = cn;
      }
      for (k = 0; k < m; k++) {
        float u = a[k];
        a[k] = u + tmp[k];
        b[k] = u - tmp[k];
      }
    }
  }

  pw[0] = h[0] * h[0];
  for (k = 1; k < FHT_N; k++)
    pw[k] = 0.5f * (h[k] * h[k] + h[FHT_N - k] * h[FHT_N - k]);
}
