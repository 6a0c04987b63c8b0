/* gbdt_score: score rows with an ensemble of complete binary trees.
 * The model comes in as three plain columns and is packed into nodes first,
 * so that the walk touches one record per level.
 */
#include <stdint.h>
#include <math.h>

#ifndef TREES
#define TREES 12
#endif
#ifndef INNER
#define INNER 15	/* inner nodes of a tree: 2^depth - 1 */
#endif
#ifndef NFEAT
#define NFEAT 10
#endif
#ifndef NROWS
#define NROWS 40
#endif

#define LEAVES (INNER + 1)
#define MISSING (-99.0f)

struct node {
	float cut;
	uint8_t feat;
	uint8_t default_left;
};

static struct node forest[TREES][INNER];

static float walk(const struct node *t, const float *leaf, const float *row)
{
	unsigned i = 0;

	while (i < INNER) {
		const struct node *n = &t[i];
		float v = row[n->feat];
		int right;

		if (v <= MISSING)
			right = !n->default_left;
		else
			right = v >= n->cut;
		i = 2 * i + 1 + right;
	}
	return leaf[i - INNER];
}

int gbdt_score(const uint8_t *feat, const float *cut, const float *leaf,
	       const float *rows, float base, float *prob)
{
	int positive = 0;

	for (int t = 0; t < TREES; t++)
		for (int i = 0; i < INNER; i++) {
			struct node *n = &forest[t][i];
			uint8_t f = feat[t * INNER + i];

			n->cut = cut[t * INNER + i];
			n->feat = (f & 0x7f) % NFEAT;
			n->default_left = f >> 7;
		}

	for (int r = 0; r < NROWS; r++) {
		float margin = base;

		for (int t = 0; t < TREES; t++)
			margin += walk(forest[t], leaf + t * LEAVES, rows + r * NFEAT);
		prob[r] = 1.0f / (1.0f + expf(-margin));
		positive += prob[r] > 0.5f;
	}
	return positive;
}
