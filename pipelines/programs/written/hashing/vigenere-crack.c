#include <stddef.h>

#ifndef CLEN
#define CLEN 400
#endif
#ifndef MAXPERIOD
#define MAXPERIOD 12
#endif

static const float english[26] = {
  .0817f,.0149f,.0278f,.0425f,.1270f,.0223f,.0202f,.0609f,.0697f,.0015f,.0077f,.0403f,.0241f,
  .0675f,.0751f,.0193f,.0010f,.0599f,.0633f,.0906f,.0276f,.0098f,.0236f,.0015f,.0197f,.0007f
};

/* index of coincidence, averaged over the columns of a given period */
static float coincidence(const char *c, size_t n, size_t period)
{
  float sum = 0.f;
  for (size_t col = 0; col < period; ++col) {
    unsigned hist[26] = {0}, total = 0;
    unsigned long pairs = 0;
    for (size_t i = col; i < n; i += period, ++total)
      ++hist[c[i] - 'a'];
    if (total < 2) continue;
    for (int k = 0; k < 26; ++k)
      if (hist[k]) pairs += (unsigned long)hist[k] * (hist[k] - 1);
    sum += (float)pairs / ((float)total * (float)(total - 1));
  }
  return sum / (float)period;
}

static int best_shift(const char *c, size_t n, size_t col, size_t period)
{
  int hist[26] = {0}, total = 0, best = 0;
  float bestchi = 1e30f;
  for (size_t i = col; i < n; i += period, ++total)
    ++hist[c[i] - 'a'];
  for (int s = 0; s < 26; ++s) {
    float chi = 0.f;
    for (int k = 0; k < 26; ++k) {
      float e = english[k] * (float)total + 1e-3f;
      float d = (float)hist[(k + s) % 26] - e;
      chi += d * d / e;
    }
    if (chi < bestchi) { bestchi = chi; best = s; }
  }
  return best;
}

/* cipher: lower case, zero terminated. key must hold MAXPERIOD + 1 characters. */
size_t vigenere_guess(const char *cipher, char *key, float *scores)
{
  size_t n = 0, period, p;
  float top = -1.f;

  while (n < CLEN && cipher[n]) ++n;
  for (p = 0; p <= MAXPERIOD; ++p) key[p] = 0;
  for (p = 0; p < MAXPERIOD; ++p) scores[p] = 0.f;
  if (n < 2 * MAXPERIOD) return 0;

  period = 1;
  for (p = 1; p <= MAXPERIOD; ++p) {
    float s = coincidence(cipher, n, p);
    scores[p - 1] = s;
    /* a multiple of the true period scores alike: ask for a clear gain */
    if (s > top * 1.08f) { top = s; period = p; }
  }
  for (p = 0; p < period; ++p)
    key[p] = (char)('a' + best_shift(cipher, n, p, period));
  return period;
}
