#include <stdint.h>

#ifndef LEN
#define LEN 250
#endif

static uint32_t rotl(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

static void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
  *a += *b; *d = rotl(*d ^ *a, 16);
  *c += *d; *b = rotl(*b ^ *c, 12);
  *a += *b; *d = rotl(*d ^ *a, 8);
  *c += *d; *b = rotl(*b ^ *c, 7);
}

/* XORs the ChaCha20 key stream into buf, in place. Twice the same call gives
   the plain text back. The counter starts where the caller says. */
uint32_t chacha_stream(const uint32_t key[8], const uint32_t nonce[3], uint32_t counter, uint8_t buf[LEN]) {
  uint32_t m[4][4], x[4][4];
  uint8_t *p = buf;
  int left = LEN;

  m[0][0] = 0x61707865; m[0][1] = 0x3320646e; m[0][2] = 0x79622d32; m[0][3] = 0x6b206574;
  for (int i = 0; i < 8; i++) m[1 + i / 4][i % 4] = key[i];
  m[3][0] = counter;
  for (int i = 0; i < 3; i++) m[3][1 + i] = nonce[i];

  while (left > 0) {
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 4; c++) x[r][c] = m[r][c];

    for (int round = 0; round < 10; round++) {
      for (int c = 0; c < 4; c++) quarter(&x[0][c], &x[1][c], &x[2][c], &x[3][c]);
      for (int c = 0; c < 4; c++)
        quarter(&x[0][c], &x[1][(c + 1) & 3], &x[2][(c + 2) & 3], &x[3][(c + 3) & 3]);
    }

    for (int w = 0; w < 16 && left > 0; w++) {
      uint32_t k = x[w / 4][w % 4] + m[w / 4][w % 4];
      for (int b = 0; b < 4 && left > 0; b++, left--, k >>= 8) *p++ ^= (uint8_t)k;
    }
    m[3][0]++;   /* wraps like the hardware counter does */
  }
  return m[3][0];
}
