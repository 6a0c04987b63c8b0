// CIC decimator, R = RATE, M = 1, N = ORDER. All registers wrap modulo 2^32,
// that is what makes it work: do not "fix" it with saturation.
#include <stdint.h>
#ifndef RATE
#define RATE 16
#endif
#ifndef ORDER
#define ORDER 3
#endif
#ifndef NOUT
#define NOUT 32
#endif

struct cic {
	uint32_t integ[ORDER];
	uint32_t comb[ORDER];
	uint32_t phase;
};

static inline int32_t cic_asr(uint32_t v, unsigned s)
{
	/* portable arithmetic shift */
	uint32_t sign = 0u - (v >> 31);
	uint32_t r = (v >> s) | (sign << (32 - s));
	return (int32_t)r;
}

int cic_decimate(struct cic *st, const int8_t *pdm, int32_t pcm[NOUT], unsigned shift)
{
	int produced = 0;
	for (unsigned n = 0; n < RATE * NOUT; n++) {
		uint32_t acc = (uint32_t)(int32_t)pdm[n];
		for (int i = 0; i < ORDER; i++)
			acc = st->integ[i] += acc;
		if (++st->phase < RATE)
			continue;
		st->phase = 0;
		for (int i = 0; i < ORDER; i++) {
			uint32_t d = st->comb[i];
			st->comb[i] = acc;
			acc -= d;
		}
		pcm[produced++] = cic_asr(acc, shift);
	}
	return produced;
}
