/* ILU(0) of a five point stencil matrix stored as five diagonals, then preconditioned
   Richardson iteration until the residual has dropped by `factor` or the limit is reached. */

#ifndef NX
#define NX 12
#endif
#ifndef NY
#define NY 10
#endif
#define NN (NX * NY)

static double s[NN], w[NN], d[NN], e[NN], n[NN];      /* matrix */
static double lw[NN], ls[NN], ud[NN];                 /* factors; u's e and n parts are the matrix's */

static double residual(const double *x, const double *b, double *r)
{
  double sum = 0;
  for (int k = 0; k < NN; k++) {
    double t = b[k] - d[k] * x[k];
    if (k % NX != 0)      t -= w[k] * x[k - 1];
    if (k % NX != NX - 1) t -= e[k] * x[k + 1];
    if (k >= NX)          t -= s[k] * x[k - NX];
    if (k < NN - NX)      t -= n[k] * x[k + NX];
    r[k] = t;
    sum += t * t;
  }
  return sum;
}

int ilu_richardson(const double *perm, const double *b, double *x, double factor, int limit)
{
  double r[NN], z[NN];

  /* harmonic means of cell permeabilities; boundary faces closed, a weak sink everywhere */
  for (int k = 0; k < NN; k++) {
    double p = perm[k];
    w[k] = k % NX ? -2 * p * perm[k - 1] / (p + perm[k - 1]) : 0;
    e[k] = k % NX < NX - 1 ? -2 * p * perm[k + 1] / (p + perm[k + 1]) : 0;
    s[k] = k >= NX ? -2 * p * perm[k - NX] / (p + perm[k - NX]) : 0;
    n[k] = k < NN - NX ? -2 * p * perm[k + NX] / (p + perm[k + NX]) : 0;
    d[k] = 0.1 - w[k] - e[k] - s[k] - n[k];
  }

  for (int k = 0; k < NN; k++) {
    ud[k] = d[k];
    lw[k] = ls[k] = 0;
    if (k % NX) {
      lw[k] = w[k] / ud[k - 1];
      ud[k] -= lw[k] * e[k - 1];
    }
    if (k >= NX) {
      ls[k] = s[k] / ud[k - NX];
      ud[k] -= ls[k] * n[k - NX];
    }
  }

  for (int k = 0; k < NN; k++) x[k] = 0;
  double r0 = residual(x, b, r), rk = r0;
  int it = 0;
  while (rk > factor * factor * r0 && it < limit) {
    for (int k = 0; k < NN; k++) {
      z[k] = r[k];
      if (k % NX) z[k] -= lw[k] * z[k - 1];
      if (k >= NX) z[k] -= ls[k] * z[k - NX];
    }
    for (int k = NN - 1; k >= 0; k--) {
      if (k % NX < NX - 1) z[k] -= e[k] * z[k + 1];
      if (k < NN - NX) z[k] -= n[k] * z[k + NX];
      z[k] /= ud[k];
      x[k] += z[k];
    }
    rk = residual(x, b, r);
    it++;
  }
  return it;
}
