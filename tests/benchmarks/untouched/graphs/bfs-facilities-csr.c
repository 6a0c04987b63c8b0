#ifndef NODES
#define NODES 128
#endif
#ifndef ARCS
#define ARCS 512
#endif
#ifndef DEPOTS
#define DEPOTS 4
#endif

#define UNSEEN (-1)

/*
 * Breadth first search from several depots at once over a directed graph in
 * compressed rows. Every node learns its number of hops and the depot that
 * reaches it first; depots given earlier win a tie. Nodes out of reach get -1.
 * Returns the largest number of hops.
 */
int nearest_depot(const int row[NODES + 1], const int target[ARCS], const int depot[DEPOTS],
                  int hops[NODES], int served_by[NODES])
{
    int queue[NODES];
    int head = 0, tail = 0;

    for (int v = 0; v < NODES; v++) {
        hops[v] = UNSEEN;
        served_by[v] = UNSEEN;
    }
    for (int d = 0; d < DEPOTS; d++) {
        if (hops[depot[d]] != UNSEEN)
            continue;               /* two depots in one place */
        hops[depot[d]] = 0;
        served_by[depot[d]] = d;
        queue[tail++] = depot[d];
    }

    int farthest = 0;
    while (head != tail) {
        const int v = queue[head++];
        farthest = hops[v];
        for (int e = row[v]; e < row[v + 1]; e++) {
            const int w = target[e];
            if (hops[w] == UNSEEN) {
                hops[w] = hops[v] + 1;
                served_by[w] = served_by[v];
                queue[tail++] = w;
            }
        }
    }
    return farthest;
}
