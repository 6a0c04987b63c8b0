/* pyramid vector quantiser: search, enumeration to an index and back */
#include <stdio.h>
#include <math.h>

#ifndef DIM
#define DIM 12
#endif
#ifndef PULSES
#define PULSES 7
#endif
#ifndef BANDS
#define BANDS 6
#endif

typedef unsigned long long u64;

static u64 points[DIM + 1][PULSES + 1];   /* integer points with n dimensions and l1 norm k */

static void count_points(void)
{
  int n, k;
  for (n = 0; n <= DIM; n++) {
    points[n][0] = 1;
    for (k = 1; k <= PULSES; k++)
      points[n][k] = n == 0 ? 0 : points[n - 1][k] + points[n][k - 1] + points[n - 1][k - 1];
  }
}

/* greedy: first a projection, then pulse by pulse where the correlation gains most */
static void search(const float *x, int y[DIM])
{
  float mag[DIM], l1 = 0, xy = 0, yy = 0;
  int i, left = PULSES;

  for (i = 0; i < DIM; i++) {
    mag[i] = fabsf(x[i]);
    l1 += mag[i];
    y[i] = 0;
  }
  if (l1 < 1e-12f) {
    y[0] = PULSES;
    return;
  }
  for (i = 0; i < DIM; i++) {
    y[i] = (int)floorf((PULSES - 1) * mag[i] / l1);
    left -= y[i];
    xy += mag[i] * y[i];
    yy += (float)(y[i] * y[i]);
  }
  while (left > 0) {
    int where = 0;
    float num = -1, den = 1;
    for (i = 0; i < DIM; i++) {
      float a = xy + mag[i], b = yy + 2 * y[i] + 1;
      a *= a;
      if (a * den > num * b) {      /* a/b > num/den */
        num = a;
        den = b;
        where = i;
      }
    }
    xy += mag[where];
    yy += 2 * y[where] + 1;
    y[where]++;
    left--;
  }
  for (i = 0; i < DIM; i++)
    if (x[i] < 0) y[i] = -y[i];
}

static u64 to_index(const int y[DIM])
{
  u64 index = 0;
  int i, k = PULSES;
  for (i = 0; i < DIM && k > 0; i++) {
    int n = DIM - 1 - i, m = y[i] < 0 ? -y[i] : y[i], t;
    /* order of the values: 0, 1, -1, 2, -2, ... */
    if (m > 0) {
      index += points[n][k];
      for (t = 1; t < m; t++) index += 2 * points[n][k - t];
      if (y[i] < 0) index += points[n][k - m];
    }
    k -= m;
  }
  return index;
}

static void from_index(u64 index, int y[DIM])
{
  int i, k = PULSES;
  for (i = 0; i < DIM; i++) {
    int n = DIM - 1 - i, m = 0;
    y[i] = 0;
    if (k == 0) continue;
    if (index < points[n][k]) continue;
    index -= points[n][k];
    for (m = 1; m < k && index >= 2 * points[n][k - m]; m++)
      index -= 2 * points[n][k - m];
    if (index >= points[n][k - m]) {
      index -= points[n][k - m];
      y[i] = -m;
    } else
      y[i] = m;
    k -= m;
  }
}

/* Returns the number of coefficients whose way back through the index went wrong (0). */
int pvq_bands(float *spectrum, u64 *index, float *gain)
{
  int b, i, wrong = 0;
  count_points();
  for (b = 0; b < BANDS; b++) {
    float *x = spectrum + b * DIM, energy = 0, norm = 0;
    int y[DIM], z[DIM];

    for (i = 0; i < DIM; i++) energy += x[i] * x[i];
    gain[b] = roundf(2 * log2f(sqrtf(energy) + 1e-6f)) / 2;   /* steps of 3 dB */
    search(x, y);
    index[b] = to_index(y);
    from_index(index[b], z);
    for (i = 0; i < DIM; i++) {
      wrong += y[i] != z[i];
      norm += (float)(z[i] * z[i]);
    }
    for (i = 0; i < DIM; i++)
      x[i] = z[i] * exp2f(gain[b]) / sqrtf(norm);
  }
  return wrong;
}

int main(void)
{
  float spectrum[BANDS * DIM], gain[BANDS];
  u64 index[BANDS];
  int i;
  for (i = 0; i < BANDS * DIM; i++) spectrum[i] = sinf(0.7f * i) * (i % 5) - 0.3f;
  printf("%d wrong\n", pvq_bands(spectrum, index, gain));
  for (i = 0; i < BANDS; i++) printf("%d: index %llu, gain %g\n", i, index[i], gain[i]);
  return 0;
}
