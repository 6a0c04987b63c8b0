#include <stdint.h>
#include <math.h>
#include <string.h>

#ifndef N
#define N 128
#endif

typedef struct { int32_t a, b; } pair_t;

static pair_t buf[2][N];

static int less_ab(const pair_t *p, const pair_t *q)
{
  return p->a < q->a || (p->a == q->a && p->b < q->b);
}

static int less_b(const pair_t *p, const pair_t *q) { return p->b < q->b; }

/* bottom-up merge sort; returns exchanges = inversions in the order given */
static uint64_t msort(pair_t *v, pair_t *tmp, int (*less)(const pair_t *, const pair_t *))
{
  uint64_t inversions = 0;
  for (int w = 1; w < N; w *= 2) {
    for (int lo = 0; lo < N; lo += 2 * w) {
      int mid = lo + w < N ? lo + w : N, hi = lo + 2 * w < N ? lo + 2 * w : N;
      int i = lo, j = mid, k = lo;
      while (i < mid && j < hi) {
        if (less(&v[j], &v[i])) { tmp[k++] = v[j++]; inversions += (uint64_t)(mid - i); }
        else tmp[k++] = v[i++];
      }
      while (i < mid) tmp[k++] = v[i++];
      while (j < hi) tmp[k++] = v[j++];
    }
    memcpy(v, tmp, N * sizeof *v);
  }
  return inversions;
}

static uint64_t tied_pairs(const pair_t *v, int mode)   /* 0: a, 1: a and b, 2: b */
{
  uint64_t total = 0, run = 1;
  for (int i = 1; i <= N; i++) {
    int same = i < N && (mode == 2 || v[i].a == v[i - 1].a) && (mode == 0 || v[i].b == v[i - 1].b);
    if (same) { run++; continue; }
    total += run * (run - 1) / 2;
    run = 1;
  }
  return total;
}

/* tau-b of two ratings with ties; count[]: ties in a, in b, in both, discordant pairs */
double kendall_tau_b(const int32_t *a, const int32_t *b, uint64_t count[4])
{
  const double all = 0.5 * N * (N - 1);
  double na, nb, s;

  for (int i = 0; i < N; i++) buf[0][i] = (pair_t){ a[i], b[i] };
  msort(buf[0], buf[1], less_ab);
  count[0] = tied_pairs(buf[0], 0);
  count[2] = tied_pairs(buf[0], 1);
  count[3] = msort(buf[0], buf[1], less_b);
  count[1] = tied_pairs(buf[0], 2);

  na = all - (double)count[0];
  nb = all - (double)count[1];
  if (na <= 0 || nb <= 0) return 0.0;
  s = all - (double)count[0] - (double)count[1] + (double)count[2] - 2.0 * (double)count[3];
  return s / sqrt(na * nb);
}
