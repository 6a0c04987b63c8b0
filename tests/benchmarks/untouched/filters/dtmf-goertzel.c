// Touch tone receiver: eight Goertzel resonators at 8 kHz, one decision per
// block of BLOCK_LEN samples.  '-' = nothing (or not sure enough).
#include <stdint.h>

#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef BLOCK_LEN
#define BLOCK_LEN 102
#endif

// 2*cos(2*pi*f/8000) in Q14: 697 770 852 941 | 1209 1336 1477 1633 Hz
static const int16_t kCoef[8] = {
	27980, 26956, 25701, 24219, 19073, 16325, 13085, 9315
};

static const char kKeys[] = "123A456B789C*0#D";

static int64_t resonatorEnergy(const int16_t *x, int n, int16_t c)
{
	int32_t s1 = 0, s2 = 0;

	while (n-- > 0) {
		int32_t s = *x++ + (int32_t)(((int64_t)c * s1) >> 14) - s2;
		s2 = s1;
		s1 = s;
	}
	return (int64_t)s1 * s1 + (int64_t)s2 * s2
	     - (((int64_t)c * s1) >> 14) * s2;
}

static int strongest(const int64_t *e, int *clear)
{
	int best = 0, second = -1;

	for (int i = 1; i < 4; i++) {
		if (e[i] > e[best]) {
			second = best;
			best = i;
		} else if (second < 0 || e[i] > e[second]) {
			second = i;
		}
	}
	*clear = e[best] > e[second] + (e[second] >> 1);
	return best;
}

int dtmf_receive(const int16_t *pcm, char *keys, uint32_t *level)
{
	int heard = 0;

	for (int b = 0; b < BLOCKS; b++, pcm += BLOCK_LEN) {
		int64_t e[8];
		int rowClear, colClear;

		for (int i = 0; i < 8; i++) {
			e[i] = resonatorEnergy(pcm, BLOCK_LEN, kCoef[i]);
			level[8 * b + i] = (uint32_t)(e[i] >> 8);
		}

		int row = strongest(e, &rowClear);
		int col = strongest(e + 4, &colClear);
		int64_t r = e[row], c = e[4 + col];

		keys[b] = '-';
		if (!rowClear || !colClear)
			continue;
		if (r > 8 * c || c > 6 * r)        // twist
			continue;
		keys[b] = kKeys[4 * row + col];
		heard++;
	}
	return heard;
}
