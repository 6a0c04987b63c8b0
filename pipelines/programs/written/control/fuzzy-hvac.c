#include <stdint.h>

#ifndef ZONES
#define ZONES 16
#endif

/* Mamdani controller for fan and valve of an air handler. Inputs are temperature
 * error and its trend, all values 0..255, centroid on a coarse output axis. */

enum { NB, NS, ZE, PS, PB, NSET };
#define NOUT 17

struct trapez { uint8_t a, b, c, d; };

static const struct trapez IN_SETS[NSET] = {
	{ 0, 0, 40, 80 }, { 40, 80, 90, 120 }, { 100, 124, 131, 155 }, { 135, 165, 175, 215 }, { 175, 215, 255, 255 },
};

static const uint8_t RULES[2][NSET][NSET] = {
	{	/* valve */
		{ NB, NB, NS, NS, ZE },
		{ NB, NS, NS, ZE, PS },
		{ NS, NS, ZE, PS, PS },
		{ NS, ZE, PS, PS, PB },
		{ ZE, PS, PS, PB, PB },
	}, {	/* fan */
		{ PB, PB, PS, PS, ZE },
		{ PB, PS, ZE, ZE, ZE },
		{ PS, ZE, NB, ZE, PS },
		{ ZE, ZE, ZE, PS, PB },
		{ ZE, PS, PS, PB, PB },
	},
};

static uint8_t grade(const struct trapez *t, int x)
{
	if (x < t->a || x > t->d)
		return 0;
	if (x < t->b)
		return (uint8_t)(255 * (x - t->a) / (t->b - t->a));
	if (x <= t->c)
		return 255;
	return (uint8_t)(255 * (t->d - x) / (t->d - t->c));
}

static uint8_t infer(const uint8_t e[NSET], const uint8_t de[NSET], const uint8_t rules[NSET][NSET])
{
	uint8_t level[NSET] = { 0 };
	uint32_t num = 0, den = 0;
	int i, j, k;

	for (i = 0; i < NSET; i++) {
		if (!e[i])
			continue;
		for (j = 0; j < NSET; j++) {
			uint8_t w = e[i] < de[j] ? e[i] : de[j];
			uint8_t *l = &level[rules[i][j]];
			if (w > *l)
				*l = w;
		}
	}
	for (k = 0; k < NOUT; k++) {
		int x = k * 255 / (NOUT - 1);
		uint8_t mu = 0;
		for (i = 0; i < NSET; i++) {
			uint8_t g = grade(&IN_SETS[i], x);
			if (g > level[i]) g = level[i];
			if (g > mu) mu = g;
		}
		num += (uint32_t)mu * (uint32_t)x;
		den += mu;
	}
	return den ? (uint8_t)(num / den) : 128;
}

uint32_t hvac_fuzzy(const uint8_t temp[ZONES], const uint8_t before[ZONES], uint8_t target,
                    uint8_t valve[ZONES], uint8_t fan[ZONES])
{
	uint32_t demand = 0;
	int z, i;

	for (z = 0; z < ZONES; z++) {
		uint8_t e[NSET], de[NSET];
		int err = 128 + ((int)target - temp[z]) * 2;
		int trend = 128 + ((int)before[z] - temp[z]) * 4;

		err = err < 0 ? 0 : err > 255 ? 255 : err;
		trend = trend < 0 ? 0 : trend > 255 ? 255 : trend;
		for (i = 0; i < NSET; i++) {
			e[i] = grade(&IN_SETS[i], err);
			de[i] = grade(&IN_SETS[i], trend);
		}
		valve[z] = infer(e, de, RULES[0]);
		fan[z] = infer(e, de, RULES[1]);
		demand += (uint32_t)valve[z] * fan[z];
	}
	return demand / ZONES;
}
