#include <math.h>
#include <stddef.h>

#ifndef N
#define N 150
#endif

struct obs { int x, y; };

static struct obs data[N], scratch[N];

static int by_x_then_y(const struct obs *a, const struct obs *b)
{
	if (a->x != b->x) return a->x < b->x ? -1 : 1;
	return (a->y > b->y) - (a->y < b->y);
}

static int by_y(const struct obs *a, const struct obs *b)
{
	return (a->y > b->y) - (a->y < b->y);
}

/* Bottom-up merge sort, stable. Returns the exchanges a bubble sort would need. */
static long long sort(int (*order)(const struct obs *, const struct obs *))
{
	long long swaps = 0;
	struct obs *from = data, *to = scratch;

	for (size_t width = 1; width < N; width *= 2) {
		for (size_t lo = 0; lo < N; lo += 2 * width) {
			size_t mid = lo + width < N ? lo + width : N;
			size_t hi = lo + 2 * width < N ? lo + 2 * width : N;
			const struct obs *a = from + lo, *a_end = from + mid;
			const struct obs *b = a_end, *b_end = from + hi;
			struct obs *out = to + lo;

			while (a < a_end && b < b_end) {
				if (order(b, a) < 0) {
					swaps += a_end - a;
					*out++ = *b++;
				} else {
					*out++ = *a++;
				}
			}
			while (a < a_end) *out++ = *a++;
			while (b < b_end) *out++ = *b++;
		}
		struct obs *t = from;
		from = to;
		to = t;
	}
	if (from != data)
		for (size_t i = 0; i < N; i++)
			data[i] = from[i];
	return swaps;
}

/* pairs within runs of equal observations */
static long long tied(int (*equal)(const struct obs *, const struct obs *))
{
	long long pairs = 0, run = 1;

	for (const struct obs *p = data + 1; p < data + N; p++) {
		if (equal(p - 1, p)) {
			pairs += run++;
		} else {
			run = 1;
		}
	}
	return pairs;
}

static int same_x(const struct obs *a, const struct obs *b) { return a->x == b->x; }
static int same_y(const struct obs *a, const struct obs *b) { return a->y == b->y; }
static int same(const struct obs *a, const struct obs *b) { return a->x == b->x && a->y == b->y; }

/*
 * Kendall's tau-b after Knight, O(n log n).  *discordant gets the number of
 * discordant pairs.  0 if one of the variables does not vary.
 */
double kendall_tau(const int *x, const int *y, long long *discordant)
{
	const long long all = (long long)N * (N - 1) / 2;
	long long tx, ty, txy, concordant;

	for (size_t i = 0; i < N; i++) {
		data[i].x = *x++;
		data[i].y = *y++;
	}
	(void)sort(by_x_then_y);
	tx = tied(same_x);
	txy = tied(same);
	*discordant = sort(by_y);
	ty = tied(same_y);

	if (tx == all || ty == all)
		return 0.0;
	concordant = all - tx - ty + txy - *discordant;
	return (double)(concordant - *discordant) / sqrt((double)(all - tx)) / sqrt((double)(all - ty));
}
