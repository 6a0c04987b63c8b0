#include <math.h>
#include <stddef.h>

#ifndef DIM
#define DIM 8
#endif
#ifndef SWEEPS
#define SWEEPS 8
#endif

typedef double real;
typedef real matrix[DIM][DIM];

static matrix a;

static real off_diagonal(void)
{
  real sum = 0;
  size_t i, j;

  for (i = 1; i < DIM; ++i)
    for (j = 0; j < i; ++j)
      sum += a[i][j] * a[i][j];
  return 2 * sum;
}

static void rotate(size_t p, size_t q, matrix v)
{
  real theta, t, c, s;
  size_t k;

  theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  if (fabs(theta) > 1e8)
    t = 0.5 / theta;
  else if (theta >= 0)
    t = 1 / (theta + sqrt(1 + theta * theta));
  else
    t = 1 / (theta - sqrt(1 + theta * theta));
  c = 1 / sqrt(1 + t * t);
  s = t * c;

  for (k = 0; k < DIM; ++k) {           /* A J */
    real x = a[k][p], y = a[k][q];
    a[k][p] = c * x - s * y;
    a[k][q] = s * x + c * y;
  }
  for (k = 0; k < DIM; ++k) {           /* J' (A J) */
    real x = a[p][k], y = a[q][k];
    a[p][k] = c * x - s * y;
    a[q][k] = s * x + c * y;
  }
  a[p][q] = a[q][p] = 0;

  for (k = 0; k < DIM; ++k) {           /* collect, vectors are columns */
    real x = v[k][p], y = v[k][q];
    v[k][p] = c * x - s * y;
    v[k][q] = s * x + c * y;
  }
}

static void sort_descending(real *w, matrix v)
{
  for (size_t i = 0; i + 1 < DIM; ++i) {
    size_t best = i;
    for (size_t j = i + 1; j < DIM; ++j)
      if (w[j] > w[best])
        best = j;
    if (best == i)
      continue;
    real t = w[i]; w[i] = w[best]; w[best] = t;
    for (size_t k = 0; k < DIM; ++k) {
      t = v[k][i]; v[k][i] = v[k][best]; v[k][best] = t;
    }
  }
}

/* All eigenvalues and eigenvectors of a symmetric matrix, of which the lower
   triangle comes row by row.  Value: sweeps used, -1 if they did not suffice. */
int symmetric_eigen(const real *lower, real *w, matrix v)
{
  int sweep;
  size_t i, j;
  real limit;

  for (i = 0; i < DIM; ++i) {
    for (j = 0; j <= i; ++j)
      a[i][j] = a[j][i] = *lower++;
    for (j = 0; j < DIM; ++j)
      v[i][j] = i == j;
  }

  limit = 1e-18 * (off_diagonal() + 1e-30);
  for (sweep = 0; sweep < SWEEPS; ++sweep) {
    if (off_diagonal() <= limit)
      break;
    for (i = 0; i + 1 < DIM; ++i)
      for (j = i + 1; j < DIM; ++j)
        if (fabs(a[i][j]) > 1e-30)
          rotate(i, j, v);
  }

  for (i = 0; i < DIM; ++i)
    w[i] = a[i][i];
  sort_descending(w, v);
  return off_diagonal() <= limit ? sweep : -1;
}
