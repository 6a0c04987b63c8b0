#include <stdint.h>
#include <stddef.h>
#ifndef WHT_LEN
#define WHT_LEN 128   // power of two
#endif

static unsigned bitrev(unsigned v, unsigned len) {
  unsigned r = 0;
  while (len >>= 1) { r = (r << 1) | (v & 1); v >>= 1; }
  return r;
}

/* Walsh spectrum in sequency order: fast Hadamard, then natural -> sequency index
   through gray code and bit reversal. out[s] has exactly s sign changes in its basis. */
void walsh_sequency(int32_t *a, int32_t *out) {
  for (size_t span = 1; span < WHT_LEN; span <<= 1)
    for (size_t base = 0; base < WHT_LEN; base += span << 1) {
      int32_t *p = a + base, *q = p + span;
      for (size_t c = span; c; --c, ++p, ++q) {
        int32_t s = *p + *q, d = *p - *q;
        *p = s;
        *q = d;
      }
    }
  for (unsigned s = 0; s < WHT_LEN; ++s) {
    unsigned g = s ^ (s >> 1);
    out[s] = a[bitrev(g, WHT_LEN)];
  }
}

int main(void) {
  static int32_t a[WHT_LEN], out[WHT_LEN];
  for (int i = 0; i < WHT_LEN; ++i) a[i] = i & 1 ? -1 : 1;   // WHT_LEN - 1 sign changes
  walsh_sequency(a, out);
  return out[WHT_LEN - 1] != WHT_LEN;
}
