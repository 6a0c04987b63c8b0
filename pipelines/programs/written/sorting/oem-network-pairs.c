#include <stdint.h>
#ifndef LANES
#define LANES 64
#endif
#ifndef BATCHES
#define BATCHES 4
#endif

/* Batcher's odd-even merge network over packed (key, payload) words; key in the upper half. */
static inline void exchange(uint32_t *v, unsigned i, unsigned j)
{
	uint32_t a = v[i], b = v[j];
	uint32_t gt = (uint32_t)-(int32_t)((a >> 16) > (b >> 16));
	uint32_t d = (a ^ b) & gt;

	v[i] = a ^ d;
	v[j] = b ^ d;
}

void oem_sort_pairs(const uint16_t *key, const uint16_t *payload, uint32_t *out)
{
	for (unsigned b = 0; b < BATCHES; b++) {
		uint32_t *v = out + b * LANES;

		for (unsigned i = 0; i < LANES; i++)
			v[i] = (uint32_t)key[b * LANES + i] << 16 | payload[b * LANES + i];

		for (unsigned p = 1; p < LANES; p <<= 1)
			for (unsigned k = p; k >= 1; k >>= 1)
				for (unsigned j = k % p; j + k < LANES; j += 2 * k)
					for (unsigned i = 0; i < k && i + j + k < LANES; i++)
						if ((i + j) / (2 * p) == (i + j + k) / (2 * p))
							exchange(v, i + j, i + j + k);
	}
}
