/*
 * Near-duplicate detection: 64 bit similarity fingerprints of word shingles.
 * Texts are stored back to back, DOCS x DOCLEN characters, zero terminated.
 */
#include <stdint.h>
#include <ctype.h>

#ifndef DOCS
#define DOCS 6
#endif
#ifndef DOCLEN
#define DOCLEN 96
#endif
#define SHINGLE 4

static uint64_t mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static uint64_t doc_fingerprint(const char *s)
{
  short vote[64];
  uint64_t window = 0, out = 0;
  int b, seen = 0;

  for (b = 0; b < 64; b++) vote[b] = 0;

  for (int i = 0; i < DOCLEN && s[i] != '\0'; i++) {
    window = ((window << 8) | (unsigned char)toupper((unsigned char)s[i])) & 0xffffffffull;
    if (++seen < SHINGLE) continue;
    uint64_t h = mix(window + 0x9e3779b97f4a7c15ull);
    for (b = 0; b < 64; b++)
      vote[b] += (h >> b & 1) ? 1 : -1;
  }
  for (b = 63; b >= 0; b--)
    out = out << 1 | (vote[b] > 0);
  return out;
}

static int popcount64(uint64_t v)
{
  int n = 0;
  for (; v; v &= v - 1) n++;
  return n;
}

/* dist: DOCS x DOCS Hamming distances. Returns the closest pair as i*DOCS+j. */
int simhash_matrix(const char *texts, uint64_t *fp, unsigned char *dist)
{
  int best = 65, pair = -1;

  for (int d = 0; d < DOCS; d++)
    fp[d] = doc_fingerprint(texts + d * DOCLEN);
  for (int i = 0; i < DOCS; i++) {
    dist[i * DOCS + i] = 0;
    for (int j = i + 1; j < DOCS; j++) {
      int n = popcount64(fp[i] ^ fp[j]);
      dist[i * DOCS + j] = dist[j * DOCS + i] = (unsigned char)n;
      if (n < best) { best = n; pair = i * DOCS + j; }
    }
  }
  return pair;
}
