#ifndef NOBS
#define NOBS 300
#endif
#ifndef NQ
#define NQ 3
#endif

/* P-square estimators: NQ quantiles of a stream without storing it. */

typedef struct {
  double q[5];      /* heights */
  double want[5], inc[5];
  int    n[5];      /* positions */
  int    seen;
} P2;

static void p2_init(P2 *e, double p) {
  e->seen = 0;
  for (int i = 0; i < 5; i++) e->n[i] = i;
  e->inc[0] = 0; e->inc[1] = p / 2; e->inc[2] = p; e->inc[3] = (1 + p) / 2; e->inc[4] = 1;
  for (int i = 0; i < 5; i++) e->want[i] = 4 * e->inc[i];
}

static double parabolic(const P2 *e, int i, int d) {
  double a = e->n[i] - e->n[i - 1], b = e->n[i + 1] - e->n[i];
  return e->q[i] + d / (a + b) *
    ((a + d) * (e->q[i + 1] - e->q[i]) / b + (b - d) * (e->q[i] - e->q[i - 1]) / a);
}

static void p2_add(P2 *e, double x) {
  int k, i;

  if (e->seen < 5) {                      /* insertion into the first five */
    for (i = e->seen++; i > 0 && e->q[i - 1] > x; i--) e->q[i] = e->q[i - 1];
    e->q[i] = x;
    return;
  }
  e->seen++;
  if (x < e->q[0])       { e->q[0] = x; k = 0; }
  else if (x >= e->q[4]) { e->q[4] = x; k = 3; }
  else for (k = 0; x >= e->q[k + 1]; k++) ;

  for (i = k + 1; i < 5; i++) e->n[i]++;
  for (i = 0; i < 5; i++) e->want[i] += e->inc[i];

  for (i = 1; i < 4; i++) {
    double d = e->want[i] - e->n[i];
    int s = 0;
    if (d >= 1 && e->n[i + 1] - e->n[i] > 1) s = 1;
    else if (d <= -1 && e->n[i - 1] - e->n[i] < -1) s = -1;
    if (!s) continue;
    double t = parabolic(e, i, s);
    if (e->q[i - 1] < t && t < e->q[i + 1]) e->q[i] = t;
    else e->q[i] += s * (e->q[i + s] - e->q[i]) / (e->n[i + s] - e->n[i]);
    e->n[i] += s;
  }
}

/* latency[] in ms; every `every` observations the estimates are stored. Returns rows stored. */
int p2_stream(const double *latency, const double *prob, int every, double *rows) {
  P2 est[NQ];
  int r = 0;

  for (int k = 0; k < NQ; k++) p2_init(&est[k], prob[k]);
  for (int i = 0; i < NOBS; i++) {
    double x = latency[i];
    x = x * x * x;                        /* skew: a long tail */
    for (int k = 0; k < NQ; k++) p2_add(&est[k], x);
    if (i >= 4 && (i + 1) % every == 0) {
      for (int k = 0; k < NQ; k++) rows[NQ * r + k] = est[k].q[2];
      r++;
    }
  }
  return r;
}
