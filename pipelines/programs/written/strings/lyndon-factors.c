#include <string.h>
#ifndef MAXLEN
#define MAXLEN 2000
#endif

/* Duval: factors of the word into non-increasing Lyndon words, and the start of
   its least rotation. Letters count modulo 3 only. */
#define LETTER(i) ((word[i] - 'a') % 3)

unsigned lyndon(const char *word, unsigned *factor_end, unsigned *least_rotation)
{
  unsigned n = (unsigned)strlen(word), i = 0, factors = 0;

  while (i < n) {
    unsigned j = i + 1, k = i;
    while (j < n && LETTER(k) <= LETTER(j)) {
      k = LETTER(k) < LETTER(j) ? i : k + 1;
      j++;
    }
    do {
      i += j - k;
      factor_end[factors++] = i;
    } while (i <= k);
  }

  unsigned a = 0, b = 1, len = 0;
  while (a < n && b < n && len < n) {
    int x = LETTER((a + len) % n), y = LETTER((b + len) % n);
    if (x == y) { len++; continue; }
    if (x > y) a += len + 1;
    else       b += len + 1;
    if (a == b) b++;
    len = 0;
  }
  *least_rotation = a < b ? a : b;
  return factors;
}
