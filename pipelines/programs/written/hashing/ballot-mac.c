#include <stddef.h>
#include <stdint.h>

#ifndef RECORDS
#define RECORDS 24
#endif
#ifndef LANES
#define LANES 8
#endif

/* Keyed tag per record from a sum of halves and multiplications without carry, then a short list
   of the records whose tags collide in their low bits. */

struct record { uint32_t lane[LANES]; };

static uint64_t
clmul32(uint32_t a, uint32_t b)
{
	uint64_t acc = 0, wide = a;

	do {
		if (b & 1)
			acc ^= wide;
		wide <<= 1;
	} while (b >>= 1);
	return acc;
}

static uint32_t
reduce(uint64_t v)
{
	/* x^32 + x^7 + x^3 + x^2 + 1 */
	for (int round = 0; round < 2; round++) {
		uint64_t high = v >> 32;
		v = (v & 0xffffffffu) ^ high ^ (high << 2) ^ (high << 3) ^ (high << 7);
	}
	return (uint32_t)v;
}

size_t
ballot_tags(const uint32_t *words, const uint32_t key[2], unsigned mask_bits, uint32_t *tags, uint16_t *clashing)
{
	static struct record box[RECORDS];
	const uint32_t mask = (1u << (mask_bits & 15)) - 1;
	size_t clashes = 0;

	for (size_t r = 0; r < RECORDS; r++)
		for (size_t l = 0; l < LANES; l++)
			box[r].lane[l] = *words++;

	for (size_t r = 0; r < RECORDS; r++) {
		const struct record *rec = &box[r];
		uint32_t tag = key[1] ^ (uint32_t)r;
		for (size_t l = 0; l < LANES; l++) {
			uint32_t mixed = rec->lane[l] + (tag >> 16 | tag << 16);
			tag ^= reduce(clmul32(mixed, key[0] | 1u));
		}
		tags[r] = tag;
	}
	for (size_t r = 1; r < RECORDS; r++) {
		size_t q = r;
		while (q-- > 0)
			if (((tags[q] ^ tags[r]) & mask) == 0) {
				clashing[clashes++] = (uint16_t)r;
				break;
			}
	}
	return clashes;
}
