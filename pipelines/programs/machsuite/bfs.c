/* Breadth-first search with a queue: levels of all nodes from a start, and how many are reached. */
#ifndef NODES
#define NODES 32
#endif
#ifndef EDGES
#define EDGES 96
#endif
#define UNREACHED (-1)

struct range {
    int begin;
    int end;
};

int bfs(int start, int first[NODES + 1], int target[EDGES], int level[NODES])
{
    int queue[NODES];
    int head = 0;
    int tail = 0;

    for (int i = 0; i < NODES; i++) {
        level[i] = UNREACHED;
    }
    if (start < 0 || start >= NODES) {
        return 0;
    }
    level[start] = 0;
    queue[tail++] = start;
    while (head < tail) {
        int node = queue[head++];
        struct range edges;

        edges.begin = first[node];
        edges.end = first[node + 1];
        for (int e = edges.begin; e < edges.end; e++) {
            int next = target[e];

            if (level[next] != UNREACHED) {
                continue;
            }
            level[next] = level[node] + 1;
            queue[tail++] = next;
        }
    }
    return tail;
}
