#include <stdint.h>

#ifndef CIN
#define CIN 6
#endif
#ifndef COUT
#define COUT 8
#endif
#ifndef LEN
#define LEN 32
#endif

/* Winograd F(2,3), one dimension. Weights are transformed with 2*G so that
   everything stays integer; halves are taken out at the end. LEN even. */
static void weight_xform(const int8_t g[3], int16_t v[4]) {
  int16_t s = g[0] + g[2];
  v[0] = 2 * g[0];
  v[1] = s + g[1];
  v[2] = s - g[1];
  v[3] = 2 * g[2];
}

void wino_conv1d(const int8_t in[CIN][LEN + 2], const int8_t wgt[COUT][CIN][3], int32_t out[COUT][LEN]) {
  static int16_t V[COUT][CIN][4];
  for (int o = 0; o < COUT; o++)
    for (int i = 0; i < CIN; i++) weight_xform(wgt[o][i], V[o][i]);

  for (int x = 0; x < LEN; x += 2) {
    int16_t U[CIN][4];
    for (int i = 0; i < CIN; i++) {
      const int8_t *d = &in[i][x];
      U[i][0] = d[0] - d[2];
      U[i][1] = d[1] + d[2];
      U[i][2] = d[2] - d[1];
      U[i][3] = d[1] - d[3];
    }
    for (int o = 0; o < COUT; o++) {
      int32_t m0 = 0, m1 = 0, m2 = 0, m3 = 0;
      for (int i = 0; i < CIN; i++) {
        m0 += U[i][0] * V[o][i][0];
        m1 += U[i][1] * V[o][i][1];
        m2 += U[i][2] * V[o][i][2];
        m3 += U[i][3] * V[o][i][3];
      }
      out[o][x] = (m0 + m1 + m2) / 2;
      out[o][x + 1] = (m1 - m2 - m3) / 2;
    }
  }
}
