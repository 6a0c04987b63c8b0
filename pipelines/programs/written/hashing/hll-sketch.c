#include <math.h>
#include <stdint.h>

#ifndef P
#define P 6
#endif
#ifndef M
#define M 64            /* 1 << P registers */
#endif
#ifndef ITEMS
#define ITEMS 800
#endif

static inline uint32_t fmix(uint32_t h) {
  h ^= h >> 16; h *= 0x85ebca6b;
  h ^= h >> 13; h *= 0xc2b2ae35;
  return h ^ h >> 16;
}

static void hll_add(uint8_t *reg, uint32_t item) {
  uint32_t h = fmix(item);
  uint32_t idx = h >> (32 - P);
  uint32_t rest = h << P | 1u << (P - 1);    /* guard bit bounds the loop */
  uint8_t rho = 1;
  while (!(rest & 0x80000000u)) { rest <<= 1; rho++; }
  if (rho > reg[idx]) reg[idx] = rho;
}

static double hll_estimate(const uint8_t *reg) {
  double alpha = M <= 16 ? 0.673 : M <= 32 ? 0.697 : M <= 64 ? 0.709 : 0.7213 / (1.0 + 1.079 / M);
  double z = 0.0;
  int zeros = 0;
  for (int i = 0; i < M; i++) {
    z += ldexp(1.0, -(int)reg[i]);
    zeros += reg[i] == 0;
  }
  double e = alpha * M * M / z;
  if (e < 2.5 * M && zeros > 0)
    e = M * log((double)M / zeros);          /* linear counting */
  return e;
}

/* Cardinalities of two streams, of their union, and of their intersection. */
void hll_overlap(const uint32_t *left, const uint32_t *right,
                 uint8_t *regl, uint8_t *regr, double card[4]) {
  uint8_t both[M];
  for (int i = 0; i < M; i++) regl[i] = regr[i] = 0;
  for (int i = 0; i < ITEMS; i++) {
    hll_add(regl, left[i]);
    hll_add(regr, right[i]);
  }
  for (int i = 0; i < M; i++)
    both[i] = regl[i] > regr[i] ? regl[i] : regr[i];
  card[0] = hll_estimate(regl);
  card[1] = hll_estimate(regr);
  card[2] = hll_estimate(both);
  card[3] = fmax(0.0, card[0] + card[1] - card[2]);
}
