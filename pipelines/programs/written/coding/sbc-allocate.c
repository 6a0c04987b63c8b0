// Subband codec for a headset: scale factors, loudness bit allocation by water level,
// quantise and pack MSB first, with a crc over header and scale factors.
#include <stdint.h>
#include <stddef.h>

#ifndef BLOCKS
#define BLOCKS 16
#endif
#define SB 8

static const int8_t loudness_offset[SB] = { -2, 0, 0, 0, 0, 0, 1, 2 };

struct packer { uint8_t *base; size_t bit; };

static void pack(struct packer *p, unsigned v, int n) {
  while (n-- > 0) {
    if (v >> n & 1) p->base[p->bit >> 3] |= (uint8_t)(0x80u >> (p->bit & 7));
    p->bit++;
  }
}

static uint8_t crc8(const uint8_t *d, size_t bits) {
  uint8_t c = 0x0f;
  for (size_t i = 0; i < bits; i++) {
    unsigned in = d[i >> 3] >> (7 - (i & 7)) & 1;
    unsigned fb = (c >> 7) ^ in;
    c = (uint8_t)(c << 1);
    if (fb) c ^= 0x1d;
  }
  return c;
}

static void allocate(const uint8_t *sf, int bitpool, uint8_t *bits) {
  int need[SB], top = 0;
  for (int s = 0; s < SB; s++) {
    int l = sf[s] ? sf[s] - loudness_offset[s] : -5;
    need[s] = l > 0 ? l / 2 : l;
    if (need[s] > top) top = need[s];
  }
  int used = 0, slice_bits = 0, slice = top + 1;
  do {
    slice--;
    used += slice_bits;
    slice_bits = 0;
    for (int s = 0; s < SB; s++) {
      if (need[s] > slice + 1 && need[s] < slice + 16) slice_bits++;
      else if (need[s] == slice + 1) slice_bits += 2;
    }
  } while (used + slice_bits < bitpool && slice > -16);
  if (used + slice_bits == bitpool) { used += slice_bits; slice--; }
  for (int s = 0; s < SB; s++) {
    int b = need[s] < slice + 2 ? 0 : need[s] - slice;
    bits[s] = (uint8_t)(b > 16 ? 16 : b);
  }
  for (int s = 0; s < SB && used < bitpool; s++) {
    if (bits[s] >= 2 && bits[s] < 16) { bits[s]++; used++; }
    else if (need[s] == slice + 1 && bitpool > used + 1) { bits[s] = 2; used += 2; }
  }
  for (int s = 0; s < SB && used < bitpool; s++)
    if (bits[s] < 16) { bits[s]++; used++; }
}

size_t sbc_frame(const int32_t sample[BLOCKS][SB], int bitpool, uint8_t *frame, size_t room) {
  uint8_t sf[SB], bits[SB];
  struct packer p = { frame, 0 };

  for (size_t i = 0; i < room; i++) frame[i] = 0;
  for (int s = 0; s < SB; s++) {
    uint32_t m = 0;
    for (int b = 0; b < BLOCKS; b++) {
      int32_t v = sample[b][s];
      m |= (uint32_t)(v < 0 ? ~v : v);
    }
    for (sf[s] = 0; m >> sf[s]; sf[s]++) { }
    if (sf[s] > 15) sf[s] = 15;
  }
  allocate(sf, bitpool, bits);

  size_t total = 16 + 8 + SB * 4;
  for (int s = 0; s < SB; s++) total += (size_t)bits[s] * BLOCKS;
  if ((total + 7) / 8 > room) return 0;

  pack(&p, 0x9c, 8);
  pack(&p, (unsigned)bitpool, 8);
  size_t crcpos = p.bit >> 3;
  pack(&p, 0, 8);
  for (int s = 0; s < SB; s++) pack(&p, sf[s], 4);
  for (int b = 0; b < BLOCKS; b++)
    for (int s = 0; s < SB; s++) {
      if (!bits[s]) continue;
      int64_t levels = (1 << bits[s]) - 1;
      int64_t q = (((int64_t)sample[b][s] + ((int64_t)1 << sf[s])) * levels) >> (sf[s] + 1);
      pack(&p, (unsigned)(q < 0 ? 0 : q > levels ? levels : q), bits[s]);
    }
  frame[crcpos] = (uint8_t)(crc8(frame, 16) ^ crc8(frame + 3, SB * 4));
  return (p.bit + 7) >> 3;
}
