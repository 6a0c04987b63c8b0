#include <stdint.h>
#ifndef N
#define N 20
#endif

/*
 * FIFO push-relabel on a dense residual matrix, node 0 to node N-1.
 * cap is consumed: afterwards it holds the residual capacities.
 */
#define SRC 0
#define SNK (N - 1)

int64_t pr_maxflow(int32_t cap[N][N], uint8_t side[N])
{
	int64_t excess[N] = {0};
	int32_t height[N] = {0};
	int32_t count[2 * N + 1] = {0};
	int fifo[N + 1], qh = 0, qt = 0;
	uint8_t queued[N] = {0};

	height[SRC] = N;
	count[0] = N - 1;
	count[N] = 1;
	for (int v = 0; v < N; v++) {
		for (int u = 0; u < N; u++)
			if (cap[v][u] < 0)	/* no edge */
				cap[v][u] = 0;
		cap[v][v] = 0;
	}
	for (int v = 1; v < N; v++) {
		int32_t c = cap[SRC][v];
		if (c <= 0)
			continue;
		cap[SRC][v] = 0;
		cap[v][SRC] += c;
		excess[v] = c;
		if (v != SNK) {
			fifo[qt] = v;
			qt = (qt + 1) % (N + 1);
			queued[v] = 1;
		}
	}

	while (qh != qt) {
		int u = fifo[qh];
		qh = (qh + 1) % (N + 1);
		queued[u] = 0;

		for (int v = 0; v < N && excess[u] > 0; v++) {
			if (cap[u][v] <= 0 || height[u] != height[v] + 1)
				continue;
			int32_t d = excess[u] < cap[u][v] ? (int32_t)excess[u] : cap[u][v];
			cap[u][v] -= d;
			cap[v][u] += d;
			excess[u] -= d;
			excess[v] += d;
			if (!queued[v] && v != SRC && v != SNK) {
				queued[v] = 1;
				fifo[qt] = v;
				qt = (qt + 1) % (N + 1);
			}
		}
		if (excess[u] == 0)
			continue;

		/* relabel, with the gap heuristic */
		int32_t old = height[u], low = 2 * N;
		for (int v = 0; v < N; v++)
			if (cap[u][v] > 0 && height[v] < low)
				low = height[v];
		if (low + 1 > 2 * N)
			low = 2 * N - 1;
		count[old]--;
		height[u] = low + 1;
		count[height[u]]++;
		if (count[old] == 0 && old < N)
			for (int v = 0; v < N; v++)
				if (v != SRC && height[v] > old && height[v] < N) {
					count[height[v]]--;
					height[v] = N + 1;
					count[N + 1]++;
				}
		queued[u] = 1;
		fifo[qt] = u;
		qt = (qt + 1) % (N + 1);
	}

	for (int v = 0; v < N; v++)
		side[v] = height[v] >= N;
	return excess[SNK];
}
