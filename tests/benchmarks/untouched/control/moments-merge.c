#include <math.h>
#ifndef BLOCKS
#define BLOCKS 8
#endif
#ifndef BLOCK
#define BLOCK 50
#endif

/* central moments of all samples, block by block, merged pairwise;
   out: mean, variance, skewness, excess kurtosis */
void moments_merge(const short *x, double out[4]) {
  double n = 0, mean = 0, m2 = 0, m3 = 0, m4 = 0;

  for (int b = 0; b < BLOCKS; b++, x += BLOCK) {
    const double nb = BLOCK;
    double sum = 0, b2 = 0, b3 = 0, b4 = 0;

    for (int i = 0; i < BLOCK; i++) sum += x[i];
    const double mb = sum / nb;
    for (int i = 0; i < BLOCK; i++) {
      const double e = x[i] - mb, e2 = e * e;
      b2 += e2;
      b3 += e2 * e;
      b4 += e2 * e2;
    }

    const double d = mb - mean, all = n + nb, r = d / all;
    m4 += b4 + d * r * r * r * n * nb * (n * n - n * nb + nb * nb)
        + 6 * r * r * (n * n * b2 + nb * nb * m2) + 4 * r * (n * b3 - nb * m3);
    m3 += b3 + d * r * r * n * nb * (n - nb) + 3 * r * (n * b2 - nb * m2);
    m2 += b2 + d * r * n * nb;
    mean += r * nb;
    n = all;
  }

  out[0] = mean;
  out[1] = m2 / n;
  out[2] = out[3] = 0;
  if (m2 > 0) {
    out[2] = sqrt(n) * m3 / pow(m2, 1.5);
    out[3] = n * m4 / (m2 * m2) - 3;
  }
}
