/* Reverse Cuthill-McKee on an edge list; start node by repeated BFS (George-Liu). Result:
   the permutation and half bandwidth before and after. */
#include <stdbool.h>
#ifndef NV
#define NV 48
#endif
#ifndef NE
#define NE 90
#endif

static int head[NV + 1], adj[2 * NE], deg[NV];
static int queue[NV], dist[NV];

static void make_graph(const unsigned char *u, const unsigned char *v)
{
	int e, i;
	for (i = 0; i <= NV; i++) head[i] = 0;
	for (e = 0; e < NE; e++) {
		if (u[e] == v[e]) continue;
		head[u[e]]++;
		head[v[e]]++;
	}
	for (i = 1; i <= NV; i++) head[i] += head[i - 1];
	for (e = 0; e < NE; e++) {
		if (u[e] == v[e]) continue;
		adj[--head[u[e]]] = v[e];
		adj[--head[v[e]]] = u[e];
	}
	for (i = 0; i < NV; i++) deg[i] = head[i + 1] - head[i];
}

/* BFS over nodes not yet numbered; returns eccentricity, *last gets a farthest node of least degree */
static int bfs(int s, const bool *numbered, int *last)
{
	int qh = 0, qt = 0;
	for (int i = 0; i < NV; i++) dist[i] = -1;
	dist[s] = 0;
	queue[qt++] = s;
	while (qh < qt) {
		int x = queue[qh++];
		for (int k = head[x]; k < head[x + 1]; k++) {
			int y = adj[k];
			if (dist[y] >= 0 || numbered[y]) continue;
			dist[y] = dist[x] + 1;
			queue[qt++] = y;
		}
	}
	int ecc = dist[queue[qt - 1]];
	*last = queue[qt - 1];
	while (qt-- > 0 && dist[queue[qt]] == ecc)
		if (deg[queue[qt]] < deg[*last]) *last = queue[qt];
	return ecc;
}

static int bandwidth(const int *pos, const unsigned char *u, const unsigned char *v)
{
	int bw = 0;
	for (int e = 0; e < NE; e++) {
		int d = pos[u[e]] - pos[v[e]];
		if (d < 0) d = -d;
		if (d > bw) bw = d;
	}
	return bw;
}

void rcm(const unsigned char *u, const unsigned char *v, int *pos, int bw[2])
{
	bool numbered[NV] = { false };
	int order[NV], n = 0;

	make_graph(u, v);
	for (int i = 0; i < NV; i++) pos[i] = i;
	bw[0] = bandwidth(pos, u, v);

	for (int seed = 0; seed < NV; seed++) {
		if (numbered[seed]) continue;
		int s = seed, far, ecc = bfs(s, numbered, &far), e2;
		while ((e2 = bfs(far, numbered, &s)) > ecc) {
			ecc = e2;
			int t = far; far = s; s = t;
		}
		/* number the component from the last BFS root */
		int start = far, at = n;
		numbered[start] = true;
		order[n++] = start;
		while (at < n) {
			int x = order[at++], first = n;
			for (int k = head[x]; k < head[x + 1]; k++) {
				int y = adj[k], j;
				if (numbered[y]) continue;
				numbered[y] = true;
				for (j = n++; j > first && deg[order[j - 1]] > deg[y]; j--)
					order[j] = order[j - 1];
				order[j] = y;
			}
		}
	}
	for (int i = 0; i < NV; i++) pos[order[i]] = NV - 1 - i;
	bw[1] = bandwidth(pos, u, v);
}
