/* postings list -> gaps, 32 at a time, packed with b bits each; gaps that do
   not fit are patched: position and high part follow the packed words */
#ifndef BLOCKS
#define BLOCKS 8
#endif
#define GROUP 32

unsigned pfor_postings(const unsigned *ids, unsigned *out)
{
	unsigned gap[GROUP], prev = 0, *q = out;

	for (unsigned blk = 0; blk < BLOCKS; blk++) {
		unsigned hist[33] = { 0 }, best = 32, best_cost = GROUP * 32, above = 0;

		for (unsigned i = 0; i < GROUP; i++) {
			unsigned w = 0;
			gap[i] = *ids - prev;
			prev = *ids++;
			while (w < 32 && gap[i] >> w)
				w++;
			hist[w]++;
		}
		for (int b = 31; b >= 0; b--) {
			above += hist[b + 1];
			unsigned cost = GROUP * (unsigned)b + 64 * above;
			if (cost < best_cost) {
				best_cost = cost;
				best = (unsigned)b;
			}
		}

		unsigned *head = q++, patches = 0, fill = 0;
		unsigned long long acc = 0;
		unsigned mask = best == 32 ? ~0u : (1u << best) - 1;
		for (unsigned i = 0; i < GROUP; i++) {
			acc |= (unsigned long long)(gap[i] & mask) << fill;
			fill += best;
			if (fill >= 32) {
				*q++ = (unsigned)acc;
				acc >>= 32;
				fill -= 32;
			}
		}
		for (unsigned i = 0; i < GROUP; i++)
			if (gap[i] & ~mask) {
				*q++ = i;
				*q++ = gap[i] >> best;
				patches++;
			}
		*head = best << 8 | patches;
	}
	return (unsigned)(q - out);
}
