#include <stdint.h>
#ifndef R
#define R 16
#endif
#ifndef C
#define C 20
#endif

/* softmax per row, int8 in, int8 out with scale 1/256 and zero point -128.
 * decay = exp(-input scale) in Q16 */
void softmax_s8(const int8_t *x, uint16_t decay, int8_t *y)
{
	uint32_t lut[256], sum, v;
	uint64_t e = 1u << 30;
	const int8_t *p, *end;
	int8_t m;
	int i;

	for (i = 0; i < 256; i++) {
		lut[i] = (uint32_t)(e >> 10);
		e = e * decay >> 16;
	}
	for (i = 0; i < R; i++, x += C) {
		end = x + C;
		m = *x;
		for (p = x + 1; p < end; p++)
			if (*p > m)
				m = *p;
		sum = 0;
		for (p = x; p < end; p++)
			sum += lut[m - *p];
		for (p = x; p < end; p++) {
			v = ((lut[m - *p] << 8) + sum / 2) / sum;
			*y++ = v > 255 ? 127 : (int8_t)((int)v - 128);
		}
	}
}
