#ifndef NBITS
#define NBITS 128
#endif

typedef unsigned char bit;

/*
 * Linear complexity profile of a key stream (Berlekamp-Massey over GF(2)).
 *   stream  packed, most significant bit first
 *   profile complexity after each bit
 *   poly    connection polynomial, coefficients 0..L
 * Returns the final complexity L.
 */
int linear_complexity(const unsigned char stream[NBITS / 8], short profile[NBITS], bit poly[NBITS + 1])
{
  bit s[NBITS], c[NBITS + 1], b[NBITS + 1], t[NBITS + 1];
  int L = 0, m = -1, n, i;

  for (n = 0; n < NBITS; n++)
    s[n] = (stream[n / 8] >> (7 - n % 8)) & 1;
  for (i = 0; i <= NBITS; i++)
    c[i] = b[i] = 0;
  c[0] = b[0] = 1;

  for (n = 0; n < NBITS; n++) {
    bit d = s[n];
    for (i = 1; i <= L; i++)
      d ^= c[i] & s[n - i];
    if (d) {
      int shift = n - m;
      for (i = 0; i <= NBITS; i++)
        t[i] = c[i];
      for (i = 0; i + shift <= NBITS; i++)
        c[i + shift] ^= b[i];
      if (2 * L <= n) {
        L = n + 1 - L;
        m = n;
        for (i = 0; i <= NBITS; i++)
          b[i] = t[i];
      }
    }
    profile[n] = (short)L;
  }
  for (i = 0; i <= NBITS; i++)
    poly[i] = c[i];
  return L;
}
