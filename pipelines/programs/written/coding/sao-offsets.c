#include <stdint.h>
#ifndef CTB
#define CTB 16
#endif
#ifndef NCTB
#define NCTB 3
#endif

/* Sample adaptive offset, encoder side, one row of NCTB tree blocks of a 10 bit plane.
   Statistics for four edge classes and 32 bands, offsets, Lagrangian choice, application. */

#define LINE (CTB * NCTB)

typedef struct {
	int64_t diff;      /* sum of original - reconstructed */
	int32_t count;
} stat_t;

typedef struct {
	uint8_t type;      /* 0 off, 1..4 edge class, 5 band */
	uint8_t band;
	int8_t  off[4];
} sao_t;

static inline int sgn(int v) { return (v > 0) - (v < 0); }
static const int8_t HX[4] = {1, 0, 1, -1}, HY[4] = {0, 1, 1, 1};
static const uint8_t remap[5] = {0, 1, 4, 2, 3};     /* -2, -1, 0, 1, 2 -> category; 4 = none */

static int category(const uint16_t *r, int x, int y, int c)
{
	int xa = x - HX[c], ya = y - HY[c], xb = x + HX[c], yb = y + HY[c];
	if (xa < 0 || xb < 0 || xa >= LINE || xb >= LINE || ya < 0 || yb >= CTB)
		return 4;
	int v = r[y * LINE + x];
	return remap[2 + sgn(v - r[ya * LINE + xa]) + sgn(v - r[yb * LINE + xb])];
}

static int64_t fit(const stat_t *s, int lo, int hi, int lambda, int8_t *off)
{
	if (!s->count) { *off = 0; return 0; }
	int64_t half = s->count / 2;
	int64_t o = s->diff >= 0 ? (s->diff + half) / s->count : -((half - s->diff) / s->count);
	if (o < lo) o = lo;
	if (o > hi) o = hi;
	int64_t best = 0;
	*off = 0;
	/* walk to zero, cheaper codes on the way */
	for (; o; o += o > 0 ? -1 : 1) {
		int64_t j = s->count * o * o - 2 * o * s->diff + (int64_t)lambda * (o < 0 ? -o : o);
		if (j < best) { best = j; *off = (int8_t)o; }
	}
	return best;
}

int64_t sao_row(const uint16_t *org, const uint16_t *rec, uint16_t *out, sao_t *par, int lambda)
{
	int64_t gain = 0;

	for (int n = 0; n < NCTB; n++) {
		stat_t edge[4][5] = {{{0, 0}}}, band[32] = {{0, 0}};
		for (int y = 0; y < CTB; y++)
			for (int x = n * CTB; x < (n + 1) * CTB; x++) {
				int i = y * LINE + x, d = org[i] - rec[i];
				for (int c = 0; c < 4; c++) {
					stat_t *s = &edge[c][category(rec, x, y, c)];
					s->diff += d;
					s->count++;
				}
				band[rec[i] >> 5].diff += d;
				band[rec[i] >> 5].count++;
			}

		sao_t *p = &par[n];
		*p = (sao_t){ 0, 0, {0} };
		int64_t best = 0;
		for (int c = 0; c < 4; c++) {
			int8_t o[4];
			int64_t j = 2 * lambda;
			for (int k = 0; k < 4; k++)
				j += fit(&edge[c][k], k < 2 ? 0 : -7, k < 2 ? 7 : 0, lambda, &o[k]);
			if (j < best) {
				best = j;
				p->type = (uint8_t)(1 + c);
				for (int k = 0; k < 4; k++) p->off[k] = o[k];
			}
		}
		int8_t o[32];
		int64_t jb[32];
		for (int b = 0; b < 32; b++) jb[b] = fit(&band[b], -7, 7, lambda, &o[b]);
		for (int b = 0; b <= 28; b++) {
			int64_t j = jb[b] + jb[b + 1] + jb[b + 2] + jb[b + 3] + 5 * lambda;
			if (j < best) {
				best = j;
				p->type = 5;
				p->band = (uint8_t)b;
				for (int k = 0; k < 4; k++) p->off[k] = o[b + k];
			}
		}
		gain -= best;

		for (int y = 0; y < CTB; y++)
			for (int x = n * CTB; x < (n + 1) * CTB; x++) {
				int v = rec[y * LINE + x], k = 4;
				if (p->type == 5) k = (v >> 5) - p->band;
				else if (p->type) k = category(rec, x, y, p->type - 1);
				if (k >= 0 && k < 4) v += p->off[k];
				out[y * LINE + x] = (uint16_t)(v < 0 ? 0 : v > 1023 ? 1023 : v);
			}
	}
	return gain;
}
