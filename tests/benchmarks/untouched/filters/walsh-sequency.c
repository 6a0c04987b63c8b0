#ifndef N
#define N 128 /* power of two */
#endif

static long scratch[N];

/* natural (Hadamard) order index of the function with s sign changes */
static int natural_index(int s) {
  int g = s ^ (s >> 1), r = 0, b;
  for (b = 1; b < N; b <<= 1) {
    r = (r << 1) | (g & 1);
    g >>= 1;
  }
  return r;
}

static void butterflies(long *v) {
  int h = 1;
  while (h < N) {
    long *a = v, *end = v + N;
    while (a < end) {
      long *b = a + h;
      int i;
      for (i = 0; i < h; i++) {
        long s = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = s;
      }
      a += 2 * h;
    }
    h <<= 1;
  }
}

/* Walsh transform in sequency order with soft threshold, and back again.
   x is replaced by the smoothed signal; spectrum receives the shrunk
   coefficients. Returns the highest sequency that survived, -1 if none. */
int walsh_denoise(long *x, long *spectrum, long threshold) {
  int s, top = -1;

  butterflies(x);
  for (s = 0; s < N; s++) {
    int p = natural_index(s);
    long c = x[p];
    if (c > threshold)
      c -= threshold;
    else if (c < -threshold)
      c += threshold;
    else
      c = 0;
    if (c != 0)
      top = s;
    spectrum[s] = c;
    scratch[p] = c;
  }
  butterflies(scratch);
  for (s = 0; s < N; s++)
    x[s] = scratch[s] / N;
  return top;
}
