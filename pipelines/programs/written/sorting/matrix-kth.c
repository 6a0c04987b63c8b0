#ifndef R
#define R 24
#endif
#ifndef C
#define C 24
#endif
#ifndef Q
#define Q 8
#endif
/* k-th smallest sums x[i] + y[j] of two ascending vectors, without forming the matrix.
   Count by staircase walk, bisect the value. */

static unsigned count_le (const long x[R], const long y[C], long limit)
{
  unsigned n = 0;
  int i = 0, j = C - 1;
  while (i < R && j >= 0)
    if (x[i] + y[j] <= limit)
      {
        n += (unsigned) j + 1;
        i++;
      }
    else
      j--;
  return n;
}

/* lo, hi by reference: the answer stays inside */
static long bisect (const long x[R], const long y[C], unsigned k)
{
  long lo = x[0] + y[0], hi = x[R - 1] + y[C - 1];
  while (lo < hi)
    {
      long mid = lo + (hi - lo) / 2;
      if (count_le (x, y, mid) >= k) hi = mid; else lo = mid + 1;
    }
  return lo;
}

long kth_sums (const long x[R], const long y[C], const unsigned k[Q], long sum[Q], unsigned short where[Q][2])
{
  long check = 0;
  for (int q = 0; q < Q; q++)
    {
      long s = sum[q] = bisect (x, y, k[q]);
      /* one cell that attains the sum, by the same staircase */
      int i = 0, j = C - 1;
      while (x[i] + y[j] != s)
        {
          if (x[i] + y[j] < s) i++; else j--;
          if (i >= R || j < 0) return -1;
        }
      where[q][0] = (unsigned short) i;
      where[q][1] = (unsigned short) j;
      check += s ^ (long) k[q];
    }
  return check;
}
