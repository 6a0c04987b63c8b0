#include <stdint.h>

#ifndef SECTIONS
#define SECTIONS 3
#endif
#ifndef FRAMES
#define FRAMES 64
#endif
#ifndef CHANNELS
#define CHANNELS 2
#endif

/* Equaliser: cascaded biquads, direct form I, Q28 coefficients, 24-bit samples,
 * first order error feedback on the quantiser of each section. Interleaved channels. */

typedef struct eq_section {
	int32_t b0, b1, b2, a1, a2;
} eq_section;

typedef struct eq_memory {
	int32_t x1, x2, y1, y2;
	int32_t err;
} eq_memory;

static int32_t clip24(int64_t v, int *ov)
{
	if (v > 0x7fffff) { *ov += 1; return 0x7fffff; }
	if (v < -0x800000) { *ov += 1; return -0x800000; }
	return (int32_t)v;
}

static void shelf_setup(eq_section *s, int32_t pole, int32_t zero)
{
	/* complex pairs at pole/2 * (1 +- j) and zero/2 * (1 +- j), both Q14 */
	s->b0 = 1 << 28;
	s->b1 = -2 * zero * 8192;
	s->b2 = zero * zero / 2;
	s->a1 = -2 * pole * 8192;
	s->a2 = pole * pole / 2;
	/* divide numerator to stay near unity gain */
	s->b0 /= 4;
	s->b1 /= 4;
	s->b2 /= 4;
}

int eq_process(int32_t *pcm, const int16_t *poles, const int16_t *zeros)
{
	eq_section sec[SECTIONS];
	eq_memory mem[CHANNELS][SECTIONS] = {{{0}}};
	int overflows = 0;

	for (int s = 0; s < SECTIONS; s++)
		shelf_setup(&sec[s], poles[s], zeros[s]);

	for (int f = 0; f < FRAMES; f++) {
		for (int c = 0; c < CHANNELS; c++, pcm++) {
			int32_t v = *pcm;
			const eq_section *q = sec;
			for (eq_memory *m = mem[c]; m < mem[c] + SECTIONS; m++, q++) {
				int64_t acc = m->err;
				acc += (int64_t)q->b0 * v;
				acc += (int64_t)q->b1 * m->x1;
				acc += (int64_t)q->b2 * m->x2;
				acc -= (int64_t)q->a1 * m->y1;
				acc -= (int64_t)q->a2 * m->y2;
				m->x2 = m->x1;
				m->x1 = v;
				m->y2 = m->y1;
				m->err = (int32_t)(acc & 0xfffffff);
				v = m->y1 = clip24(acc >> 28, &overflows);
			}
			*pcm = v;
		}
	}
	return overflows;
}
