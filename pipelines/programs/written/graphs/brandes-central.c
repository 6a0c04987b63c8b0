#ifndef NODES
#define NODES 40
#endif
#ifndef ARCS
#define ARCS 140
#endif

/* betweenness (Brandes) of an unweighted digraph; pred lists are not stored,
 * the back sweep looks at the out-arcs again */
void betweenness(const long *first, const long *target, double *score)
{
	long dist[NODES], order[NODES];
	double paths[NODES], delta[NODES];

	for (long v = 0; v < NODES; v++)
		score[v] = 0.0;

	for (long s = 0; s < NODES; s++) {
		long head = 0, tail = 0;

		for (long v = 0; v < NODES; v++) {
			dist[v] = -1;
			paths[v] = delta[v] = 0.0;
		}
		dist[s] = 0;
		paths[s] = 1.0;
		order[tail++] = s;

		while (head < tail) {
			long v = order[head++];

			for (const long *t = target + first[v]; t != target + first[v + 1]; t++) {
				if (dist[*t] < 0) {
					dist[*t] = dist[v] + 1;
					order[tail++] = *t;
				}
				if (dist[*t] == dist[v] + 1)
					paths[*t] += paths[v];
			}
		}

		while (--tail > 0) {
			long v = order[tail];

			for (long e = first[v]; e < first[v + 1]; e++) {
				long t = target[e];

				if (dist[t] == dist[v] + 1)
					delta[v] += paths[v] / paths[t] * (1.0 + delta[t]);
			}
			score[v] += delta[v];
		}
	}
}
