#include <stdint.h>

#ifndef POINTS
#define POINTS 120
#endif

/* Block of a time series database: stamps as delta of delta, values as XOR
   with the predecessor.  Bits are written into 64 bit words, MSB first. */

typedef union { double d; uint64_t u; } f64bits;

struct bitbuf {
  uint64_t *w;
  unsigned long pos;
};

static void bb_put(struct bitbuf *b, uint64_t v, int n) {
  while (n > 0) {
    int room = 64 - (int)(b->pos & 63);
    int take = n < room ? n : room;
    uint64_t part = v >> (n - take);
    if (take < 64) part &= (1ull << take) - 1;
    if (room == 64) b->w[b->pos >> 6] = 0;
    b->w[b->pos >> 6] |= part << (room - take);
    b->pos += (unsigned long)take;
    n -= take;
  }
}

static int lead(uint64_t v) { int n = 0; while (!(v >> 63)) { v <<= 1; n++; } return n; }
static int trail(uint64_t v) { int n = 0; while (!(v & 1)) { v >>= 1; n++; } return n; }

static void put_stamp(struct bitbuf *b, int64_t dod) {
  if (dod == 0)                          bb_put(b, 0, 1);
  else if (dod >= -63 && dod <= 64)      bb_put(b, 0x100u | (uint64_t)(dod + 63), 9);
  else if (dod >= -255 && dod <= 256)    bb_put(b, 0xc00u | (uint64_t)(dod + 255), 12);
  else if (dod >= -2047 && dod <= 2048)  bb_put(b, 0xe000u | (uint64_t)(dod + 2047), 16);
  else { bb_put(b, 15, 4); bb_put(b, (uint64_t)dod & 0xffffffffu, 32); }
}

unsigned long ts_block_encode(const uint32_t gap[POINTS], const double value[POINTS], uint64_t *block) {
  struct bitbuf b = { block, 0 };
  f64bits prev = { .d = value[0] };
  int wlead = 65, wtrail = 0;
  int64_t last = 60;

  bb_put(&b, prev.u, 64);
  for (int i = 1; i < POINTS; i++) {
    f64bits v = { .d = value[i] };
    uint64_t x = v.u ^ prev.u;

    put_stamp(&b, (int64_t)gap[i] - last);
    last = gap[i];
    if (x == 0) { bb_put(&b, 0, 1); continue; }
    int l = lead(x), t = trail(x);
    if (l > 31) l = 31;
    if (l >= wlead && t >= wtrail) {
      bb_put(&b, 2, 2);                               /* same window as before */
      bb_put(&b, x >> wtrail, 64 - wlead - wtrail);
    } else {
      int m = 64 - l - t;
      bb_put(&b, 3, 2);
      bb_put(&b, (uint64_t)l, 5);
      bb_put(&b, (uint64_t)(m - 1), 6);
      bb_put(&b, x >> t, m);
      wlead = l;
      wtrail = t;
    }
    prev = v;
  }
  return b.pos;
}
