#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef POINTS
#define POINTS 120
#endif

/*
 * Time series of (time, value) pairs, compressed as in in-memory monitoring
 * stores: delta of delta for the times, XOR with the predecessor for the
 * values.  Values are rounded to 1/scale before, readings are no better.
 */

struct bits { uint64_t *word; unsigned long n; };

static void append(struct bits *b, uint64_t v, unsigned width)
{
  if (width == 0) return;
  if (width < 64) v &= (1ULL << width) - 1;
  unsigned at = b->n & 63, room = 64 - at;
  uint64_t *w = b->word + (b->n >> 6);

  if (at == 0) *w = 0;
  if (width <= room) {
    *w |= v << (room - width);
  } else {
    w[0] |= v >> (width - room);
    w[1] = v << (64 - (width - room));
  }
  b->n += width;
}

static unsigned leading(uint64_t v)
{
  unsigned n = 0;
  if (!(v >> 32)) { n += 32; v <<= 32; }
  if (!(v >> 48)) { n += 16; v <<= 16; }
  if (!(v >> 56)) { n += 8;  v <<= 8; }
  while (!(v >> 63)) { n++; v <<= 1; }
  return n;
}

static unsigned trailing(uint64_t v)
{
  unsigned n = 0;
  while (!(v & 0xff)) { n += 8; v >>= 8; }
  while (!(v & 1))    { n++;    v >>= 1; }
  return n;
}

static void append_time(struct bits *b, int64_t dd)
{
  if (dd == 0)                        append(b, 0, 1);
  else if (dd >= -63 && dd <= 64)     { append(b, 2, 2);  append(b, (uint64_t)(dd + 63), 7); }
  else if (dd >= -255 && dd <= 256)   { append(b, 6, 3);  append(b, (uint64_t)(dd + 255), 9); }
  else if (dd >= -2047 && dd <= 2048) { append(b, 14, 4); append(b, (uint64_t)(dd + 2047), 12); }
  else                                { append(b, 15, 4); append(b, (uint64_t)dd, 64); }
}

/* number of bits; out must hold 3 words per point */
unsigned long gorilla_samples(const int64_t *time, const double *value, double scale, uint64_t *out)
{
  struct bits b = { out, 0 };
  int64_t last_t = 0, last_delta = 0;
  uint64_t last_v = 0;
  unsigned win_lead = 0, win_trail = 0;
  int have_window = 0;

  for (int i = 0; i < POINTS; i++) {
    double rounded = floor(value[i] * scale + 0.5) / scale;
    uint64_t v, x;
    memcpy(&v, &rounded, sizeof v);

    if (i == 0) {
      append(&b, (uint64_t)time[0], 64);
      append(&b, v, 64);
      last_t = time[0];
      last_v = v;
      continue;
    }

    int64_t delta = time[i] - last_t;
    append_time(&b, delta - last_delta);
    last_t = time[i];
    last_delta = delta;

    x = v ^ last_v;
    last_v = v;
    if (x == 0) {
      append(&b, 0, 1);
      continue;
    }
    unsigned lead = leading(x), trail = trailing(x);
    if (lead > 31) lead = 31;
    if (have_window && lead >= win_lead && trail >= win_trail) {
      append(&b, 2, 2);
    } else {
      win_lead = lead;
      win_trail = trail;
      have_window = 1;
      append(&b, 3, 2);
      append(&b, lead, 5);
      append(&b, 64 - lead - trail - 1, 6);
    }
    append(&b, x >> win_trail, 64 - win_lead - win_trail);
  }
  return b.n;
}
