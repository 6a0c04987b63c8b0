/* Context-adaptive binary arithmetic coder for 4x4 blocks; two probability estimators per context. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

#ifndef NBLK
#define NBLK 16
#endif

#define OUT_BYTES (NBLK * 64)
typedef struct { uint16_t fast /* 10 bits */, slow /* 14 bits */; uint8_t rate_fast, rate_slow; } ctx_t;

typedef struct {
	uint32_t low, range, outstanding;
	int first;
	uint8_t *dst;
	size_t   nbits, cap_bits;
} enc_t;

enum { CTX_CODED = 0, CTX_SIG = 2, CTX_GT1 = 2 + 6, CTX_GT2 = 2 + 6 + 4, NCTX = 2 + 6 + 4 + 1 };

static const uint8_t diag_scan[16] = { 0, 4, 1, 8, 5, 2, 12, 9, 6, 3, 13, 10, 7, 14, 11, 15 };

static const uint8_t weight[16] = { 8, 9, 11, 14, 9, 10, 13, 17, 11, 13, 16, 22, 14, 17, 22, 30 };

/* plain quantiser with a dead zone; a block of a few lonely ones is dropped */
static unsigned quantise_block(const int16_t *coef, unsigned step, int16_t *level) {
	unsigned sum = 0, largest = 0;
	for (int i = 0; i < 16; i++) {
		unsigned q = weight[i] * step;
		unsigned m = (unsigned)(coef[i] < 0 ? -coef[i] : coef[i]);
		m = (m + q / 3) / q;
		level[i] = (int16_t)(coef[i] < 0 ? -(int)m : (int)m);
		sum += m;
		largest = m > largest ? m : largest;
	}
	return largest > 1 || sum > 8;
}

static void emit(enc_t *e, unsigned bit) {
	if (e->nbits < e->cap_bits && bit)
		e->dst[e->nbits >> 3] |= (uint8_t)(0x80u >> (e->nbits & 7));
	e->nbits++;
}

static void resolve(enc_t *e, unsigned bit) {
	if (!e->first)
		emit(e, bit);
	e->first = 0;
	for (; e->outstanding; e->outstanding--)
		emit(e, bit ^ 1u);
}

/* settles the top bit of low, which has 10 bits and one more for the carry */
static void settle(enc_t *e) {
	if (e->low >= 1024) {
		e->low -= 1024;
		resolve(e, 1);
	} else if (e->low < 512) {
		resolve(e, 0);
	} else {
		e->low -= 512;
		e->outstanding++;
	}
}

static void renorm(enc_t *e) {
	for (; e->range < 256; e->range <<= 1) {
		e->low <<= 1;
		settle(e);
	}
}

static void code_bin(enc_t *e, ctx_t *c, unsigned bin) {
	uint32_t p = ((uint32_t)c->fast << 4) + c->slow;       /* 15 bits, P(bin = 1) */
	unsigned mps = p >> 14;
	uint32_t lps = ((((mps ? 32767 - p : p) >> 9) * (e->range >> 5)) >> 1) + 4;

	e->range -= lps;
	if (bin != mps) {
		e->low += e->range;
		e->range = lps;
	}
	c->fast = (uint16_t)(c->fast - (c->fast >> c->rate_fast) + ((1023u * bin) >> c->rate_fast));
	c->slow = (uint16_t)(c->slow - (c->slow >> c->rate_slow) + ((16383u * bin) >> c->rate_slow));
	renorm(e);
}

static void code_bypass(enc_t *e, unsigned bin) {
	e->low = (e->low << 1) + (bin ? e->range : 0);
	settle(e);
}

/* k-th order Exp-Golomb, all bypass */
static void code_golomb(enc_t *e, uint32_t v, unsigned k) {
	while (v >= (1u << k)) {
		code_bypass(e, 1);
		v -= 1u << k++;
	}
	code_bypass(e, 0);
	while (k--)
		code_bypass(e, (v >> k) & 1);
}

static unsigned mag_at(const int16_t *b, int x, int y) {
	int v = x > 3 || y > 3 ? 0 : b[y * 4 + x];
	return (unsigned)(v < 0 ? -v : v);
}

/* returns the length of the bit stream in bits, 0 when it did not fit */
unsigned encode_coefficients(const int16_t *coef, unsigned step, uint8_t *out) {
	ctx_t ctx[NCTX];
	enc_t e = { .low = 0, .range = 510, .first = 1, .dst = out, .cap_bits = 8 * (size_t)OUT_BYTES };
	unsigned prev_coded = 0;
	memset(out, 0, OUT_BYTES);
	for (int i = 0; i < NCTX; i++)
		ctx[i] = (ctx_t){ 512, 8192, (uint8_t)(i < CTX_SIG ? 3 : 4), 7 };

	for (int blk = 0; blk < NBLK; blk++, coef += 16) {
		int16_t level[16];
		unsigned any = quantise_block(coef, step, level);
		code_bin(&e, &ctx[CTX_CODED + prev_coded], any);
		prev_coded = any;
		if (!any)
			continue;
		for (int s = 15; s >= 0; s--) {
			int x = diag_scan[s] & 3, y = diag_scan[s] >> 2;
			unsigned m = mag_at(level, x, y);
			unsigned near = mag_at(level, x + 1, y) + mag_at(level, x, y + 1) + mag_at(level, x + 1, y + 1);

			code_bin(&e, &ctx[CTX_SIG + (near > 2 ? 2 : near) + (x + y < 2 ? 3 : 0)], m != 0);
			if (!m)
				continue;
			code_bin(&e, &ctx[CTX_GT1 + (near > 3 ? 3 : near)], m > 1);
			if (m > 1) {
				code_bin(&e, &ctx[CTX_GT2], m > 2);
				if (m > 2)
					code_golomb(&e, m - 3, near > 12 ? 2 : near > 5);
			}
			code_bypass(&e, level[y * 4 + x] < 0);
		}
	}
	e.low += e.range - 2;
	e.range = 2;
	renorm(&e);
	resolve(&e, (e.low >> 9) & 1);
	emit(&e, (e.low >> 8) & 1);
	emit(&e, 1);
	return e.nbits <= e.cap_bits ? (unsigned)e.nbits : 0;
}
