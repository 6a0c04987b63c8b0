#include <stddef.h>
#include <stdint.h>

#ifndef INBYTES
#define INBYTES 256
#endif
#ifndef SYMS
#define SYMS 32
#endif
#ifndef OUTMAX
#define OUTMAX 512
#endif

enum { MAXBITS = 15 };

struct bitsrc {
  const uint8_t *p;
  const uint8_t *end;
  uint32_t hold;
  int have;
};

static int getbit(struct bitsrc *b)
{
  if (!b->have) {
    if (b->p == b->end)
      return -1;
    b->hold = *b->p++;
    b->have = 8;
  }
  int r = b->hold & 1;
  b->hold >>= 1;
  b->have--;
  return r;
}

struct canon {
  uint16_t count[MAXBITS + 1];
  uint16_t symbol[SYMS];
};

/* Code lengths from a histogram, as Shannon would choose them: never over-subscribed. */
static void lengths_from_counts(const uint16_t *histo, uint8_t *len)
{
  uint32_t total = 0;
  for (int i = 0; i < SYMS; i++)
    total += histo[i];
  for (int i = 0; i < SYMS; i++) {
    uint8_t l = 0;
    if (histo[i]) {
      l = 1;
      while (((uint32_t)histo[i] << l) < total && l < MAXBITS)
        l++;
    }
    len[i] = l;
  }
}

static int canon_setup(struct canon *c, const uint8_t *len)
{
  uint16_t offs[MAXBITS + 2];
  int left = 1;

  for (int l = 0; l <= MAXBITS; l++)
    c->count[l] = 0;
  for (int s = 0; s < SYMS; s++)
    c->count[len[s]]++;
  for (int l = 1; l <= MAXBITS; l++) {
    left = 2 * left - c->count[l];
    if (left < 0)
      return left;
  }
  offs[1] = 0;
  for (int l = 1; l <= MAXBITS; l++)
    offs[l + 1] = (uint16_t)(offs[l] + c->count[l]);
  for (int s = 0; s < SYMS; s++)
    if (len[s])
      c->symbol[offs[len[s]]++] = (uint16_t)s;
  return left;
}

static int canon_next(const struct canon *c, struct bitsrc *in)
{
  int code = 0, first = 0, index = 0;

  for (int l = 1; l <= MAXBITS; l++) {
    int b = getbit(in);
    if (b < 0)
      return -1;
    code |= b;
    int n = c->count[l];
    if (code - n < first)
      return c->symbol[index + (code - first)];
    index += n;
    first = (first + n) << 1;
    code <<= 1;
  }
  return -2;            /* a hole of the incomplete code */
}

size_t huff_expand(const uint8_t *in, const uint16_t *histo, uint8_t *len, uint16_t *out, uint32_t *holes)
{
  struct canon c;
  struct bitsrc src = { in, in + INBYTES, 0, 0 };
  size_t n = 0;

  *holes = 0;
  lengths_from_counts(histo, len);
  if (canon_setup(&c, len) < 0)
    return 0;
  while (n < OUTMAX) {
    int s = canon_next(&c, &src);
    if (s == -1)
      break;
    if (s == -2)
      ++*holes;
    else
      out[n++] = (uint16_t)s;
  }
  return n;
}
