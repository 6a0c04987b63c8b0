#include <stdint.h>

#ifndef N
#define N 28            /* at most 32 */
#endif

typedef uint32_t set;

#define FIRST(s) ((unsigned)__builtin_ctz(s))
#define SIZE(s)  ((unsigned)__builtin_popcount(s))
#define BIT(i)   ((set)1 << (i))

/* search state of one depth */
struct level {
  set r, p, x, todo;
};

/* Bron-Kerbosch with pivots over bit sets; an array of levels instead of recursion.
   adj_upper: bit j of word i (j > i) says that i and j are compatible. */
unsigned count_cliques(const set *adj_upper, set *largest, unsigned histogram[N + 1])
{
  set adj[N];
  struct level lev[N + 2];
  int depth = 0;
  unsigned cliques = 0;

  for (int i = 0; i < N; i++) { adj[i] = 0; histogram[i] = 0; }
  histogram[N] = 0;
  for (int i = 0; i < N; i++)
    for (int j = i + 1; j < N; j++)
      if (adj_upper[i] & BIT(j)) { adj[i] |= BIT(j); adj[j] |= BIT(i); }

  *largest = 0;
  lev[0].r = 0;
  lev[0].p = N == 32 ? ~(set)0 : BIT(N & 31) - 1;
  lev[0].x = 0;
  lev[0].todo = lev[0].p;

  while (depth >= 0) {
    struct level *l = &lev[depth];
    if (l->todo == 0) { depth--; continue; }
    unsigned v = FIRST(l->todo);
    struct level *d = l + 1;

    l->todo &= ~BIT(v);
    d->r = l->r | BIT(v);
    d->p = l->p & adj[v];
    d->x = l->x & adj[v];
    l->p &= ~BIT(v);
    l->x |= BIT(v);

    if (!(d->p | d->x)) {
      cliques++;
      histogram[SIZE(d->r)]++;
      if (SIZE(d->r) > SIZE(*largest)) *largest = d->r;
      continue;
    }
    if (!d->p) continue;

    /* pivot: most neighbours among the candidates */
    unsigned pivot = 0, most = 0;
    for (set s = d->p | d->x; s; s &= s - 1) {
      unsigned n = SIZE(d->p & adj[FIRST(s)]) + 1;
      if (n > most) { most = n; pivot = FIRST(s); }
    }
    d->todo = d->p & ~adj[pivot];
    depth++;
  }
  return cliques;
}
