#include <stdint.h>

#ifndef BLOCKS
#define BLOCKS 16
#endif

/* GHASH, bit serial, as it would be in an area-optimised core.
 * A block is two big-endian 64 bit words. */
void ghash_serial(const uint64_t H[2], const uint64_t data[BLOCKS][2], uint64_t aadbits, uint64_t Y[2])
{
	uint64_t y0 = 0, y1 = 0;
	int blk, bit;

	for (blk = 0; blk <= BLOCKS; blk++) {
		uint64_t z0 = 0, z1 = 0;
		uint64_t v0 = H[0], v1 = H[1];

		if (blk < BLOCKS) {
			y0 ^= data[blk][0];
			y1 ^= data[blk][1];
		} else {
			/* length block */
			y0 ^= aadbits;
			y1 ^= (uint64_t)BLOCKS * 128u;
		}

		for (bit = 0; bit < 128; bit++) {
			uint64_t x = bit < 64 ? y0 >> (63 - bit) : y1 >> (127 - bit);
			uint64_t take = 0 - (x & 1);
			uint64_t lsb = 0 - (v1 & 1);

			z0 ^= v0 & take;
			z1 ^= v1 & take;
			v1 = (v1 >> 1) | (v0 << 63);
			v0 = (v0 >> 1) ^ (lsb & 0xe100000000000000ULL);
		}
		y0 = z0;
		y1 = z1;
	}
	Y[0] = y0;
	Y[1] = y1;
}
