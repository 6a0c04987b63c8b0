#include <stdint.h>

#ifndef WORDS
#define WORDS 64
#endif

/* Trivium, one bit per clock. State bits s1..s288 are held in byte cells,
 * index 0 unused so that the taps read as in the paper. */
void trivium_xor(const uint8_t key[10], const uint8_t iv[10], uint32_t *buf)
{
  static uint8_t s[289];
  int i, clock;
  uint32_t acc = 0;

  for (i = 0; i <= 288; i++) s[i] = 0;
  for (i = 0; i < 80; i++) {
    s[1 + i] = key[i >> 3] >> (i & 7) & 1;
    s[94 + i] = iv[i >> 3] >> (i & 7) & 1;
  }
  s[286] = s[287] = s[288] = 1;

#ifndef WARMUP
#define WARMUP 192
#endif
  for (clock = -WARMUP; clock < 32 * WORDS; clock++) {
    uint8_t t1 = s[66] ^ s[93];
    uint8_t t2 = s[162] ^ s[177];
    uint8_t t3 = s[243] ^ s[288];
    uint8_t z = t1 ^ t2 ^ t3;

    t1 ^= (s[91] & s[92]) ^ s[171];
    t2 ^= (s[175] & s[176]) ^ s[264];
    t3 ^= (s[286] & s[287]) ^ s[69];
    for (i = 288; i > 1; i--) s[i] = s[i - 1];
    s[1] = t3;
    s[94] = t1;
    s[178] = t2;

    if (clock >= 0) {
      acc = acc >> 1 | (uint32_t)z << 31;
      if ((clock & 31) == 31) {
        buf[clock >> 5] ^= acc;
        acc = 0;
      }
    }
  }
}
