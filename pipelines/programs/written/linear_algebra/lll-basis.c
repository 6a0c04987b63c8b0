/* LLL reduction, integral basis, doubles for Gram-Schmidt; delta = 3/4. After reduction also Babai's
   nearest plane for one target. Entries are small, so that doubles are exact enough. */
#include <math.h>
#include <stdint.h>
#ifndef DIM
#define DIM 6
#endif

static double mu[DIM][DIM], norm[DIM], star[DIM][DIM];

static void gso_row(int32_t (*b)[DIM], int i)
{
  for (int k = 0; k < DIM; k++) star[i][k] = b[i][k];
  for (int j = 0; j < i; j++) {
    double d = 0;
    for (int k = 0; k < DIM; k++) d += b[i][k] * star[j][k];
    mu[i][j] = d / norm[j];
    for (int k = 0; k < DIM; k++) star[i][k] -= mu[i][j] * star[j][k];
  }
  norm[i] = 0;
  for (int k = 0; k < DIM; k++) norm[i] += star[i][k] * star[i][k];
}

static void size_reduce(int32_t (*b)[DIM], int i)
{
  for (int j = i - 1; j >= 0; j--) {
    double q = floor(mu[i][j] + 0.5);
    if (q == 0) continue;
    for (int k = 0; k < DIM; k++) b[i][k] -= (int32_t)q * b[j][k];
    for (int k = 0; k < j; k++) mu[i][k] -= q * mu[j][k];
    mu[i][j] -= q;
  }
}

/* noise: small numbers. The basis is lower triangular, its first column like that of a knapsack */
int lattice_reduce(const int8_t *noise, int32_t big, const int32_t target[DIM], int32_t (*b)[DIM], int32_t closest[DIM])
{
  int swaps = 0, i = 1;

  for (int r = 0; r < DIM; r++)
    for (int c = 0; c < DIM; c++, noise++)
      b[r][c] = c > r ? 0 : *noise + (r == c ? 64 : 0) + (c == 0 && r ? big >> r : 0);

  gso_row(b, 0);
  while (i < DIM) {
    gso_row(b, i);
    size_reduce(b, i);
    if (norm[i] >= (0.75 - mu[i][i - 1] * mu[i][i - 1]) * norm[i - 1] || swaps > 400) {
      i++;
      continue;
    }
    for (int k = 0; k < DIM; k++) {
      int32_t t = b[i][k];
      b[i][k] = b[i - 1][k];
      b[i - 1][k] = t;
    }
    swaps++;
    if (i > 1) i--;
    gso_row(b, i - 1);
  }

  double rest[DIM];
  for (int k = 0; k < DIM; k++) {
    rest[k] = target[k];
    closest[k] = 0;
  }
  for (i = 0; i < DIM; i++) gso_row(b, i);
  for (i = DIM - 1; i >= 0; i--) {
    double d = 0;
    for (int k = 0; k < DIM; k++) d += rest[k] * star[i][k];
    int32_t q = (int32_t)floor(d / norm[i] + 0.5);
    for (int k = 0; k < DIM; k++) {
      rest[k] -= (double)q * b[i][k];
      closest[k] += q * b[i][k];
    }
  }
  return swaps;
}
