#include <stdint.h>

#ifndef OUT_BYTES
#define OUT_BYTES 40
#endif

/* Three shift registers; the newest bit is bit 0 of lo. Registers are 93, 84
 * and 111 bits long, older bits fall off at bit 127 and are never looked at.
 * All taps lie beyond 64. */
struct shiftreg { uint64_t lo, hi; };

#define TAP(r, i) ((r).hi >> ((i) - 65))
#define PUSH(r, bit) ((r).hi = (r).hi << 1 | (r).lo >> 63, (r).lo = (r).lo << 1 | (uint64_t)(bit))

static void set_bit(struct shiftreg *r, int i)     /* i counts from 1 */
{
  if (i <= 64) r->lo |= 1ULL << (i - 1);
  else         r->hi |= 1ULL << (i - 65);
}

int trivium_keystream(const uint8_t key[10], const uint8_t iv[10], uint8_t *out)
{
  struct shiftreg a = {0, 0}, b = {0, 0}, c = {0, 0};
  int ones = 0;

  for (int i = 0; i < 80; i++)
  {
    if (key[i >> 3] >> (i & 7) & 1) set_bit(&a, i + 1);
    if (iv[i >> 3] >> (i & 7) & 1)  set_bit(&b, i + 1);
  }
  set_bit(&c, 109); set_bit(&c, 110); set_bit(&c, 111);

  for (int n = -4 * 288; n < 8 * OUT_BYTES; n++)
  {
    uint64_t t1 = TAP(a, 66) ^ TAP(a, 93);
    uint64_t t2 = TAP(b, 69) ^ TAP(b, 84);
    uint64_t t3 = TAP(c, 66) ^ TAP(c, 111);

    if (n >= 0)
    {
      int z = (int)((t1 ^ t2 ^ t3) & 1);
      ones += z;
      if ((n & 7) == 0) out[n >> 3] = 0;
      out[n >> 3] |= (uint8_t)(z << (n & 7));
    }

    t1 ^= (TAP(a, 91) & TAP(a, 92)) ^ TAP(b, 78);
    t2 ^= (TAP(b, 82) & TAP(b, 83)) ^ TAP(c, 87);
    t3 ^= (TAP(c, 109) & TAP(c, 110)) ^ TAP(a, 69);
    PUSH(a, t3 & 1);
    PUSH(b, t1 & 1);
    PUSH(c, t2 & 1);
  }
  return ones;
}
