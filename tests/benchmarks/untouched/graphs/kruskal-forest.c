#include <stdint.h>

#ifndef SITES
#define SITES 64
#endif
#ifndef CABLES
#define CABLES 256
#endif

#define MAX_LENGTH 256

static int16_t parent[SITES];        /* negative at a root: -(size) */

static int16_t find_root(int16_t s)
{
	while (parent[s] >= 0) {
		if (parent[parent[s]] >= 0)
			parent[s] = parent[parent[s]];   /* halve the path */
		s = parent[s];
	}
	return s;
}

static int join(int16_t a, int16_t b)
{
	a = find_root(a);
	b = find_root(b);
	if (a == b)
		return 0;
	if (parent[a] > parent[b]) {         /* b is the larger one */
		int16_t t = a;
		a = b;
		b = t;
	}
	parent[a] = (int16_t)(parent[a] + parent[b]);
	parent[b] = a;
	return 1;
}

/* Cheapest set of cables that connects whatever can be connected.
 * Lengths are bytes, so the cables are sorted by counting.
 * island[s] numbers the parts that stay apart; returns the total length. */
uint32_t lay_cables(const uint16_t *end_a, const uint16_t *end_b, const uint8_t *length,
		    uint8_t *chosen, uint16_t *islands, uint16_t *island)
{
	uint16_t start[MAX_LENGTH + 1] = { 0 };
	uint16_t order[CABLES];
	uint32_t total = 0;
	uint16_t missing = SITES - 1;
	int i;

	for (i = 0; i < CABLES; i++) {
		chosen[i] = 0;
		start[length[i] + 1]++;
	}
	for (i = 0; i < MAX_LENGTH; i++)
		start[i + 1] = (uint16_t)(start[i + 1] + start[i]);
	for (i = 0; i < CABLES; i++)
		order[start[length[i]]++] = (uint16_t)i;

	for (i = 0; i < SITES; i++)
		parent[i] = -1;

	for (i = 0; i < CABLES && missing; i++) {
		uint16_t c = order[i];
		if (join((int16_t)end_a[c], (int16_t)end_b[c])) {
			chosen[c] = 1;
			total += length[c];
			missing--;
		}
	}

	*islands = 0;
	for (i = 0; i < SITES; i++)
		if (parent[i] < 0)
			island[i] = (*islands)++;
	for (i = 0; i < SITES; i++)
		if (parent[i] >= 0)
			island[i] = island[find_root((int16_t)i)];
	return total;
}
