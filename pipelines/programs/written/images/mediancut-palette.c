#include <stdint.h>
#include <stddef.h>

#ifndef NPIX
#define NPIX 256
#endif
#ifndef NCOL
#define NCOL 16
#endif

/* GIF style palette: median cut over the pixel list, boxes ordered by
   population * longest side. The pixel list is sorted in pieces (shell sort). */

struct box { size_t first, count; int axis; uint32_t weight; };

static uint32_t pix[NPIX];

static inline unsigned chan(uint32_t rgb, int axis) { return rgb >> (8 * axis) & 255u; }

static void measure(struct box *b)
{
	uint32_t span = 0;
	b->axis = 0;
	for (int a = 0; a < 3; a++) {
		unsigned lo = 255, hi = 0;
		for (size_t i = b->first; i < b->first + b->count; i++) {
			unsigned v = chan(pix[i], a);
			if (v < lo) lo = v;
			if (v > hi) hi = v;
		}
		if (hi - lo > span) {
			span = hi - lo;
			b->axis = a;
		}
	}
	b->weight = span * (uint32_t)b->count;
}

static void sort_piece(uint32_t *p, size_t n, int axis)
{
	for (size_t gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (size_t i = gap; i < n; i++) {
			uint32_t v = p[i];
			size_t j = i;
			for (; j >= gap && chan(p[j - gap], axis) > chan(v, axis); j -= gap)
				p[j] = p[j - gap];
			p[j] = v;
		}
}

int mcut_palette(const uint32_t *rgb, uint32_t *palette, uint8_t *indexed)
{
	struct box box[NCOL];
	int used = 1;

	for (size_t i = 0; i < NPIX; i++)
		pix[i] = rgb[i] & 0xffffffu;
	box[0] = (struct box){ .first = 0, .count = NPIX };
	measure(&box[0]);

	while (used < NCOL) {
		struct box *b = box;
		for (int k = 1; k < used; k++)
			if (box[k].weight > b->weight)
				b = &box[k];
		if (b->weight == 0)
			break;                 /* fewer distinct colours than asked for */
		sort_piece(pix + b->first, b->count, b->axis);
		struct box *n = &box[used++];
		n->first = b->first + b->count / 2;
		n->count = b->count - b->count / 2;
		b->count /= 2;
		measure(b);
		measure(n);
	}

	for (int k = 0; k < used; k++) {
		uint32_t sum[3] = {0}, c = (uint32_t)box[k].count;
		for (size_t i = 0; i < c; i++)
			for (int a = 0; a < 3; a++)
				sum[a] += chan(pix[box[k].first + i], a);
		palette[k] = sum[0] / c | sum[1] / c << 8 | sum[2] / c << 16;
	}

	for (size_t i = 0; i < NPIX; i++) {
		uint32_t best = UINT32_MAX;
		for (int k = 0; k < used; k++) {
			uint32_t d = 0;
			for (int a = 0; a < 3 && d < best; a++) {
				int e = (int)chan(rgb[i], a) - (int)chan(palette[k], a);
				d += (uint32_t)(e * e);
			}
			if (d < best) { best = d; indexed[i] = (uint8_t)k; }
		}
	}
	return used;
}
