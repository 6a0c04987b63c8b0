#ifndef BLKS
#define BLKS 4
#endif

typedef short coef;

/* 1/sqrt(8)-free integer DCT: 8 point even/odd split, 12 bit constants */
#define FIX(x) ((long)((x) * 4096.0 + 0.5))

static void dct8(const long *s, long *d, int stride, int shift)
{
  long a0 = s[0] + s[7 * stride], b0 = s[0] - s[7 * stride];
  long a1 = s[stride] + s[6 * stride], b1 = s[stride] - s[6 * stride];
  long a2 = s[2 * stride] + s[5 * stride], b2 = s[2 * stride] - s[5 * stride];
  long a3 = s[3 * stride] + s[4 * stride], b3 = s[3 * stride] - s[4 * stride];
  long round = 1L << (shift - 1);

  d[0]          = ((a0 + a1 + a2 + a3) * FIX(0.353553391) + round) >> shift;
  d[4 * stride] = ((a0 - a1 - a2 + a3) * FIX(0.353553391) + round) >> shift;
  d[2 * stride] = ((a0 - a3) * FIX(0.461939766) + (a1 - a2) * FIX(0.191341716) + round) >> shift;
  d[6 * stride] = ((a0 - a3) * FIX(0.191341716) - (a1 - a2) * FIX(0.461939766) + round) >> shift;
  d[stride]     = (b0 * FIX(0.490392640) + b1 * FIX(0.415734806) + b2 * FIX(0.277785117) + b3 * FIX(0.097545161) + round) >> shift;
  d[3 * stride] = (b0 * FIX(0.415734806) - b1 * FIX(0.097545161) - b2 * FIX(0.490392640) - b3 * FIX(0.277785117) + round) >> shift;
  d[5 * stride] = (b0 * FIX(0.277785117) - b1 * FIX(0.490392640) + b2 * FIX(0.097545161) + b3 * FIX(0.415734806) + round) >> shift;
  d[7 * stride] = (b0 * FIX(0.097545161) - b1 * FIX(0.277785117) + b2 * FIX(0.415734806) - b3 * FIX(0.490392640) + round) >> shift;
}

static int magnitude_bits(long v)
{
  int n = 0;
  if (v < 0) v = -v;
  while (v) { v >>= 1; n++; }
  return n;
}

/* zig-zag order is produced on the fly: up and down the anti-diagonals */
static int zigzag_next(int *r, int *c)
{
  if ((*r + *c) % 2 == 0) {
    if (*c == 7) (*r)++;
    else if (*r == 0) (*c)++;
    else { (*r)--; (*c)++; }
  } else {
    if (*r == 7) (*c)++;
    else if (*c == 0) (*r)++;
    else { (*r)++; (*c)--; }
  }
  return *r < 8 && *c < 8;
}

/*
 * Estimate of the coded size of BLKS blocks in bits, at a given quality scale (1..50),
 * with flat 4 + run + size bit "Huffman" prices. Quantised values to q.
 */
long jpeg_cost(const unsigned char pix[BLKS][8][8], coef q[BLKS][64], int scale)
{
  long bits = 0, pred = 0;
  int b;

  for (b = 0; b < BLKS; b++) {
    long in[64], t[64], f[64];
    int i, r = 0, c = 0, k = 0, run = 0;

    for (i = 0; i < 64; i++) in[i] = (long)pix[b][i / 8][i % 8] - 128;
    for (i = 0; i < 8; i++) dct8(in + 8 * i, t + 8 * i, 1, 9);     /* keeps 3 fraction bits */
    for (i = 0; i < 8; i++) dct8(t + i, f + i, 8, 15);

    do {
      long step = (16 + 3 * (r + c)) * scale / 10 + 1;
      long v = f[8 * r + c];
      v = v < 0 ? -((-v + step / 2) / step) : (v + step / 2) / step;
      q[b][k] = (coef)v;
      if (k == 0) {
        int s = magnitude_bits(v - pred);
        bits += 2 + s + s;
        pred = v;
      } else if (v == 0)
        run++;
      else {
        int s = magnitude_bits(v);
        while (run > 15) { bits += 11; run -= 16; }
        bits += 2 + (run + 1) / 2 + s + s;
        run = 0;
      }
      k++;
    } while (zigzag_next(&r, &c));
    if (run) bits += 4;                                            /* end of block */
  }
  return bits;
}
