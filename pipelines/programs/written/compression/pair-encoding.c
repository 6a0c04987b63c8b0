#include <stdint.h>
#include <string.h>

#ifndef TEXT
#define TEXT 512
#endif
#ifndef MERGES
#define MERGES 24
#endif
#define BASE 26
#define VOCAB (BASE + MERGES)

typedef struct { uint8_t left, right; uint16_t uses; } bpe_rule;

static uint16_t pair_count[VOCAB][VOCAB];

static int count_pairs(const uint8_t *seq, int n, int *pl, int *pr) {
  int best = 0;
  memset(pair_count, 0, sizeof pair_count);
  for (int i = 0; i + 1 < n; i++) {
    int a = seq[i], b = seq[i + 1];
    int c = ++pair_count[a][b];
    if (c > best || (c == best && (a < *pl || (a == *pl && b < *pr)))) {
      best = c; *pl = a; *pr = b;
    }
    if (a == b && i + 2 < n && seq[i + 2] == a) i++;   /* aaa holds one aa only */
  }
  return best;
}

/* Learns merge rules over a text and rewrites it with them. Stops when no pair
   occurs at least twice. Returns the number of rules; *length of the result. */
int bpe_train(const char *text, uint8_t *seq, bpe_rule *rules, int *length) {
  int n = 0, m;

  for (; n < TEXT && text[n]; n++)
    seq[n] = (uint8_t)((text[n] - 'a') % BASE);
  for (m = 0; m < MERGES; m++) {
    int l = 0, r = 0;
    int c = count_pairs(seq, n, &l, &r);
    if (c < 2) break;

    uint8_t *w = seq;
    const uint8_t *p = seq, *end = seq + n;
    uint16_t used = 0;
    while (p < end) {
      if (p + 1 < end && p[0] == l && p[1] == r) {
        *w++ = (uint8_t)(BASE + m);
        p += 2;
        used++;
      } else
        *w++ = *p++;
    }
    n = (int)(w - seq);
    rules[m] = (bpe_rule){ (uint8_t)l, (uint8_t)r, used };
  }
  *length = n;
  return m;
}
