#include <stdint.h>

#ifndef NBYTES
#define NBYTES 256
#endif
#ifndef MAXBLOCKS
#define MAXBLOCKS 12
#endif

/* Entropy decoder for baseline blocks. Tables are given like in a DHT segment: counts per code
   length, then symbols. Here small fixed tables; any byte string is decodable until it ends. */

static const uint8_t dc_bits[16] = { 0, 1, 5, 1, 1, 1, 1, 1, 1 };
static const uint8_t dc_vals[]   = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const uint8_t ac_bits[16] = { 0, 2, 1, 3, 3, 2, 4 };
static const uint8_t ac_vals[]   = { 0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x22, 0x13, 0xf0, 0x51 };

static const uint8_t natural[64] = {
	 0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

struct hufftab {
	int32_t maxcode[17];     /* -1: no code of this length */
	int32_t delta[17];       /* index of first value minus first code */
	const uint8_t *vals;
};

struct bits {
	const uint8_t *p, *end;
	uint32_t acc;
	int left;
	int eof;
};

static void derive(struct hufftab *t, const uint8_t *counts, const uint8_t *vals)
{
	int32_t code = 0, k = 0;
	for (int l = 1; l <= 16; l++, code <<= 1) {
		t->delta[l] = k - code;
		code += counts[l - 1];
		k += counts[l - 1];
		t->maxcode[l] = counts[l - 1] ? code - 1 : -1;
	}
	t->vals = vals;
}

static int getbit(struct bits *b)
{
	if (!b->left) {
		if (b->p >= b->end) { b->eof = 1; return 1; }
		b->acc = *b->p++;
		if (b->acc == 0xff && b->p < b->end) b->p++;      /* stuffed byte, or marker ignored */
		b->left = 8;
	}
	return b->acc >> --b->left & 1;
}

static int symbol(struct bits *b, const struct hufftab *t)
{
	int32_t code = 0;
	for (int l = 1; l <= 16; l++) {
		code = code << 1 | getbit(b);
		if (code <= t->maxcode[l])
			return t->vals[code + t->delta[l]];
	}
	return -1;
}

static int receive_extend(struct bits *b, int n)
{
	int v = 0;
	for (int i = 0; i < n; i++) v = v << 1 | getbit(b);
	return n && v < 1 << (n - 1) ? v - (1 << n) + 1 : v;
}

int jdec_blocks(const uint8_t *data, const uint8_t *qt, int16_t *coef, int *errors)
{
	struct hufftab dc, ac;
	struct bits b = { data, data + NBYTES, 0, 0, 0 };
	int pred = 0, blocks = 0;

	*errors = 0;
	derive(&dc, dc_bits, dc_vals);
	derive(&ac, ac_bits, ac_vals);
	for (int i = 0; i < 64 * MAXBLOCKS; i++) coef[i] = 0;

	while (blocks < MAXBLOCKS && !b.eof) {
		int16_t *c = coef + 64 * blocks;
		int s = symbol(&b, &dc);
		if (s < 0) { ++*errors; b.left = 0; pred = 0; continue; }     /* resync at a byte */
		pred += receive_extend(&b, s);
		if (pred > 1023 || pred < -1024) { ++*errors; pred = 0; }
		c[0] = (int16_t)(pred * qt[0]);
		for (int k = 1; k < 64; k++) {
			s = symbol(&b, &ac);
			if (s < 0) { ++*errors; break; }
			if (s == 0) break;                             /* EOB */
			k += s >> 4;
			if (s == 0xf0) continue;                       /* ZRL, 16 with the loop's own step */
			if (k > 63) { ++*errors; break; }
			int v = receive_extend(&b, s & 15);
			c[natural[k]] = (int16_t)(v * qt[k]);
			if (b.eof) break;
		}
		blocks++;
	}
	return blocks;
}
