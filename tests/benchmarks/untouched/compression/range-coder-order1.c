/* Adaptive binary range coder, carry goes back into the written bytes */
#include <stdint.h>

#ifndef LEN
#define LEN 256
#endif

#define PROB_BITS 12
#define RATE 4
#define CONTEXTS 8

static uint16_t prob[CONTEXTS][256];

struct coder {
  uint32_t low, range;
  uint8_t *p;
};

static void code_bit(struct coder *rc, uint16_t *pr, int bit) {
  uint32_t bound = (rc->range >> PROB_BITS) * *pr;

  if (bit) {
    rc->range -= bound;
    rc->low += bound;
    if (rc->low < bound) {            // carry
      uint8_t *back = rc->p;
      do {
        --back;
      } while (++*back == 0);
    }
    *pr -= *pr >> RATE;
  } else {
    rc->range = bound;
    *pr += ((1 << PROB_BITS) - *pr) >> RATE;
  }
  while (rc->range < 1u << 24) {
    *rc->p++ = rc->low >> 24;
    rc->low <<= 8;
    rc->range <<= 8;
  }
}

/* returns bytes written, or -1 if they would not fit into room */
int range_coder_order1(const uint8_t *data, uint8_t *out, int room) {
  struct coder rc = {0, 0xffffffffu, out};
  int ctx = 0;

  for (int c = 0; c < CONTEXTS; c++)
    for (int i = 0; i < 256; i++) prob[c][i] = 1 << (PROB_BITS - 1);

  for (int i = 0; i < LEN; i++) {
    int node = 1;
    if (room - (rc.p - out) < 16) return -1;
    for (int b = 7; b >= 0; b--) {
      int bit = data[i] >> b & 1;
      code_bit(&rc, &prob[ctx][node], bit);
      node = node << 1 | bit;
    }
    ctx = data[i] >> 1 & (CONTEXTS - 1);
  }
  for (int i = 0; i < 4; i++) {
    *rc.p++ = rc.low >> 24;
    rc.low <<= 8;
  }
  return rc.p - out;
}
