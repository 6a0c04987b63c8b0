#include <stdint.h>
#include <stddef.h>

#ifndef NBLK
#define NBLK 12
#endif
#define COEFS 16

/* residual block writer, flavour of a baseline video codec:
   ue(v) number of coefs, se(v) levels with adaptive suffix, ue(v) runs, emulation prevention */

typedef struct bw {
  uint8_t *p, *end;
  uint32_t acc;
  unsigned n;          // bits in acc
  unsigned zeros;      // 0x00 bytes in a row
  int      full;
} bw_t;

static void bw_byte(bw_t *b, uint8_t v) {
  if (b->zeros >= 2 && v <= 3) {
    if (b->p == b->end) { b->full = 1; return; }
    *b->p++ = 3;
    b->zeros = 0;
  }
  if (b->p == b->end) { b->full = 1; return; }
  *b->p++ = v;
  b->zeros = v ? 0 : b->zeros + 1;
}

static void bw_bits(bw_t *b, uint32_t v, unsigned n) {
  while (n) {
    unsigned take = 8 - b->n < n ? 8 - b->n : n;
    n -= take;
    b->acc = b->acc << take | (v >> n & ((1u << take) - 1));
    b->n += take;
    if (b->n == 8) { bw_byte(b, (uint8_t)b->acc); b->n = 0; b->acc = 0; }
  }
}

static void bw_ue(bw_t *b, uint32_t v) {
  unsigned len = 0;
  for (uint32_t t = ++v; t >>= 1;) ++len;
  bw_bits(b, 0, len);
  bw_bits(b, v, len + 1);
}

static void bw_se(bw_t *b, int v) {
  bw_ue(b, v > 0 ? 2u * (unsigned)v - 1 : 2u * (unsigned)-v);
}

static const uint8_t scan[COEFS] = { 0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15 };

size_t write_residuals(const int16_t *coef, int qstep, uint8_t *stream, size_t room) {
  bw_t b = { stream, stream + room, 0, 0, 0, 0 };

  for (int k = 0; k < NBLK; ++k, coef += COEFS) {
    int level[COEFS], run[COEFS], n = 0, zeros = 0;
    for (int i = 0; i < COEFS; ++i) {
      int q = coef[scan[i]] / qstep;
      if (!q) { ++zeros; continue; }
      level[n] = q;
      run[n++] = zeros;
      zeros = 0;
    }
    bw_ue(&b, (uint32_t)n);
    unsigned suffix = 0;
    while (n--) {
      int v = level[n], a = v < 0 ? -v : v;
      if (suffix == 0) bw_se(&b, v);
      else {
        bw_ue(&b, (uint32_t)(a - 1) >> suffix);
        bw_bits(&b, (uint32_t)(a - 1), suffix);
        bw_bits(&b, v < 0, 1);
      }
      if (a > (3 << suffix) && suffix < 6) ++suffix;
      bw_ue(&b, (uint32_t)run[n]);
    }
    if (b.full) return 0;
  }
  bw_bits(&b, 1, 1);                      // rbsp stop bit
  while (b.n) bw_bits(&b, 0, 1);
  return b.full ? 0 : (size_t)(b.p - stream);
}

int main(void) {
  static int16_t coef[NBLK * COEFS];
  static uint8_t stream[NBLK * 40];
  for (int i = 0; i < NBLK * COEFS; ++i) coef[i] = (int16_t)(i % 13 * 20 - 120);
  return write_residuals(coef, 50, stream, sizeof stream) == 0;
}
