#include <stdio.h>

#ifndef POINTS
#define POINTS 100
#endif

struct pt { int x, y, id; };

static struct pt p[POINTS];
static int chain[2 * POINTS];

static int before(const struct pt *a, const struct pt *b)
{
	return a->x != b->x ? a->x < b->x : a->y < b->y;
}

static void sift(int root, int n)
{
	struct pt v = p[root];
	int kid;

	while ((kid = 2 * root + 1) < n) {
		if (kid + 1 < n && before(&p[kid], &p[kid + 1]))
			kid++;
		if (!before(&v, &p[kid]))
			break;
		p[root] = p[kid];
		root = kid;
	}
	p[root] = v;
}

/* > 0: left turn a -> b -> c */
static long long turn(int a, int b, int c)
{
	return (long long)(p[b].x - p[a].x) * (p[c].y - p[a].y)
	     - (long long)(p[b].y - p[a].y) * (p[c].x - p[a].x);
}

/*
 * Convex hull by Andrew's monotone chains.  hull gets the numbers of the
 * corner points, counter clockwise from the leftmost one; *area2 is twice
 * the enclosed area.  Returns the number of corners.
 */
int hull_monotone(const int *x, const int *y, int *hull, long long *area2)
{
	int i, n, k = 0, floor_;

	*area2 = 0;
	for (i = 0; i < POINTS; i++) {
		p[i].x = x[i];
		p[i].y = y[i];
		p[i].id = i;
	}
	for (i = POINTS / 2 - 1; i >= 0; i--)
		sift(i, POINTS);
	for (i = POINTS - 1; i > 0; i--) {
		struct pt t = p[0];
		p[0] = p[i];
		p[i] = t;
		sift(0, i);
	}

	/* equal points make trouble below */
	for (n = 1, i = 1; i < POINTS; i++)
		if (before(&p[n - 1], &p[i]))
			p[n++] = p[i];
	if (n == 1) {
		hull[0] = p[0].id;
		return 1;
	}

	for (i = 0; i < n; i++) {
		while (k >= 2 && turn(chain[k - 2], chain[k - 1], i) <= 0)
			k--;
		chain[k++] = i;
	}
	floor_ = k;
	for (i = n - 2; i >= 0; i--) {
		while (k > floor_ && turn(chain[k - 2], chain[k - 1], i) <= 0)
			k--;
		chain[k++] = i;
	}
	k--;	/* the first point came again */

	for (i = 0; i < k; i++) {
		const struct pt *a = &p[chain[i]], *b = &p[chain[i + 1]];
		*area2 += (long long)a->x * b->y - (long long)b->x * a->y;
		hull[i] = a->id;
	}
	return k;
}

int main(void)
{
	int x[POINTS], y[POINTS], hull[POINTS], n, i;
	long long area2;

	for (i = 0; i < POINTS; i++) {
		x[i] = i * 37 % 41;
		y[i] = i * 23 % 29;
	}
	n = hull_monotone(x, y, hull, &area2);
	printf("%d corners, area %lld/2\n", n, area2);
	return 0;
}
