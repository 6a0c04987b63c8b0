#include <stddef.h>

#ifndef MEMBERS
#define MEMBERS 120
#endif
#ifndef LEVELS
#define LEVELS 7        /* 2^LEVELS must exceed the depth of the tree */
#endif
#ifndef PAIRS
#define PAIRS 80
#endif

static size_t ancestor[LEVELS][MEMBERS];
static size_t depth[MEMBERS];

static size_t Lift(size_t member, size_t steps)
{
	for (size_t level = 0; steps != 0; level++, steps >>= 1)
	{
		if (steps & 1)
			member = ancestor[level][member];
	}
	return member;
}

static size_t CommonAncestor(size_t x, size_t y)
{
	if (depth[x] < depth[y])
		y = Lift(y, depth[y] - depth[x]);
	else
		x = Lift(x, depth[x] - depth[y]);

	if (x == y)
		return x;

	size_t level = LEVELS;
	while (level-- > 0)
	{
		if (ancestor[level][x] != ancestor[level][y])
		{
			x = ancestor[level][x];
			y = ancestor[level][y];
		}
	}
	return ancestor[0][x];
}

/// Kinship in an organisation chart.
/// boss[i] is reduced to a smaller number, member 0 is the root.
/// For every pair: the closest common superior and the distance in the chart.
/// Returns the largest distance.
size_t Kinship(const unsigned short *boss, const unsigned short *left, const unsigned short *right,
               unsigned short *superior, unsigned short *distance)
{
	ancestor[0][0] = 0;
	depth[0] = 0;
	for (size_t i = 1; i < MEMBERS; i++)
	{
		ancestor[0][i] = boss[i] % i;
		depth[i] = depth[ancestor[0][i]] + 1;
	}
	for (size_t level = 1; level < LEVELS; level++)
	{
		for (size_t i = 0; i < MEMBERS; i++)
			ancestor[level][i] = ancestor[level - 1][ancestor[level - 1][i]];
	}

	size_t widest = 0;
	for (size_t p = 0; p < PAIRS; p++)
	{
		const size_t top = CommonAncestor(left[p], right[p]);
		const size_t d = depth[left[p]] + depth[right[p]] - 2 * depth[top];

		superior[p] = (unsigned short)top;
		distance[p] = (unsigned short)d;
		if (d > widest)
			widest = d;
	}
	return widest;
}
