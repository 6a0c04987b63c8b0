#include <stdint.h>
#include <string.h>
#ifndef N
#define N 160
#endif

/* Suffix array by prefix doubling with counting sorts, LCP after Kasai, and from
   these the longest repeated substring. */

static void counting_order(const uint16_t *items, uint16_t *out, const uint16_t *key, int shift, unsigned range)
{
  uint16_t cnt[N + 258];
  memset(cnt, 0, (range + 1) * sizeof *cnt);
  for (int i = 0; i < N; i++) {
    unsigned at = items[i] + (unsigned)shift;
    cnt[(at < N ? key[at] + 1u : 0u)]++;
  }
  unsigned run = 0;
  for (unsigned k = 0; k <= range; k++) { unsigned c = cnt[k]; cnt[k] = (uint16_t)run; run += c; }
  for (int i = 0; i < N; i++) {
    unsigned at = items[i] + (unsigned)shift;
    out[cnt[(at < N ? key[at] + 1u : 0u)]++] = items[i];
  }
}

int suffix_lcp(const unsigned char *s, uint16_t *sa, uint16_t *lcp, uint16_t *repeat_at)
{
  uint16_t rank[N], next[N], tmp[N];
  unsigned range = 257;

  for (int i = 0; i < N; i++) { rank[i] = s[i]; tmp[i] = (uint16_t)i; }
  counting_order(tmp, sa, rank, 0, range);

  for (int h = 1; h < N; h *= 2) {
    counting_order(sa, tmp, rank, h, range);
    counting_order(tmp, sa, rank, 0, range);
    unsigned r = 0;
    next[sa[0]] = 0;
    for (int i = 1; i < N; i++) {
      unsigned a = sa[i - 1], b = sa[i];
      unsigned ka = a + h < N ? rank[a + h] + 1u : 0, kb = b + h < N ? rank[b + h] + 1u : 0;
      if (rank[a] != rank[b] || ka != kb) r++;
      next[b] = (uint16_t)r;
    }
    memcpy(rank, next, sizeof rank);
    range = r + 1;
    if (r == N - 1) break;
  }
  /* for a single round the ranks may still be letters */
  for (int i = 0; i < N; i++) rank[sa[i]] = (uint16_t)i;

  int h = 0, best = 0;
  *repeat_at = 0;
  lcp[0] = 0;
  for (int i = 0; i < N; i++) {
    if (rank[i] == 0) { h = 0; continue; }
    int j = sa[rank[i] - 1];
    while (i + h < N && j + h < N && s[i + h] == s[j + h]) h++;
    lcp[rank[i]] = (uint16_t)h;
    if (h > best) { best = h; *repeat_at = (uint16_t)i; }
    if (h > 0) h--;
  }
  return best;
}
