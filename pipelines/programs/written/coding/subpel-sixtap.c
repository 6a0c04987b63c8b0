#include <stdint.h>

#ifndef BLKS
#define BLKS 10
#endif
#ifndef STRIDE
#define STRIDE 40
#endif
#ifndef LINES
#define LINES 32
#endif

// quarter-sample luma prediction, 8x8 blocks, 6 tap + bilinear

#define TAP6(a,b,c,d,e,f) ((a) - 5*(b) + 20*(c) + 20*(d) - 5*(e) + (f))

static inline uint8_t sat(int v) { return v & ~255 ? (uint8_t)((-v) >> 31) : (uint8_t)v; }

static void half_h(const uint8_t *s, uint8_t *d) {
  for (int y = 0; y < 8; y++, s += STRIDE, d += 8)
    for (int x = 0; x < 8; x++)
      d[x] = sat((TAP6(s[x-2], s[x-1], s[x], s[x+1], s[x+2], s[x+3]) + 16) >> 5);
}

static void half_v(const uint8_t *s, uint8_t *d) {
  for (int y = 0; y < 8; y++, s += STRIDE, d += 8)
    for (int x = 0; x < 8; x++) {
      const uint8_t *p = s + x;
      d[x] = sat((TAP6(p[-2*STRIDE], p[-STRIDE], p[0], p[STRIDE], p[2*STRIDE], p[3*STRIDE]) + 16) >> 5);
    }
}

static void half_hv(const uint8_t *s, uint8_t *d) {
  int t[13][8];
  s -= 2 * STRIDE;
  for (int y = 0; y < 13; y++, s += STRIDE)
    for (int x = 0; x < 8; x++)
      t[y][x] = TAP6(s[x-2], s[x-1], s[x], s[x+1], s[x+2], s[x+3]);
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++)
      *d++ = sat((TAP6(t[y][x], t[y+1][x], t[y+2][x], t[y+3][x], t[y+4][x], t[y+5][x]) + 512) >> 10);
}

static void whole(const uint8_t *s, uint8_t *d) {
  for (int y = 0; y < 8; y++, s += STRIDE)
    for (int x = 0; x < 8; x++) *d++ = s[x];
}

static void avg(uint8_t *d, const uint8_t *o) {
  for (int i = 0; i < 64; i++, d++) *d = (uint8_t)((*d + *o++ + 1) >> 1);
}

void mc_luma(const uint8_t *ref, const uint16_t *posx, const uint16_t *posy, uint8_t *pred) {
  uint8_t other[64];
  for (int k = 0; k < BLKS; k++, pred += 64) {
    const uint8_t *s = ref + (posy[k] >> 2) * STRIDE + (posx[k] >> 2);
    int fx = posx[k] & 3, fy = posy[k] & 3;
    switch (fy << 2 | fx) {
    case 0: whole(s, pred); break;
    case 2: half_h(s, pred); break;
    case 1: case 3:
      half_h(s, pred); whole(s + (fx == 3), other); avg(pred, other); break;
    case 8: half_v(s, pred); break;
    case 4: case 12:
      half_v(s, pred); whole(s + (fy == 3) * STRIDE, other); avg(pred, other); break;
    case 10: half_hv(s, pred); break;
    case 6: case 14:
      half_hv(s, pred); half_h(s + (fy == 3) * STRIDE, other); avg(pred, other); break;
    case 9: case 11:
      half_hv(s, pred); half_v(s + (fx == 3), other); avg(pred, other); break;
    default: /* diagonals */
      half_h(s + (fy == 3) * STRIDE, pred); half_v(s + (fx == 3), other); avg(pred, other);
    }
  }
}
