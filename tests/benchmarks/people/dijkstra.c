#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#define V 12

static int nearest(const int dist[], const bool done[])
{
    int best = INT_MAX, index = -1;
    for (int v = 0; v < V; v++)
        if (!done[v] && dist[v] < best)
            best = dist[v], index = v;
    return index;
}

void dijkstra(const unsigned char graph[V][V], int source, int dist[V])
{
    bool done[V];
    for (int i = 0; i < V; i++)
        dist[i] = INT_MAX, done[i] = false;
    dist[source % V < 0 ? 0 : source % V] = 0;
    for (int count = 0; count < V - 1; count++) {
        int u = nearest(dist, done);
        if (u < 0)
            break;
        done[u] = true;
        for (int v = 0; v < V; v++)
            if (!done[v] && graph[u][v] && dist[u] != INT_MAX && dist[u] + graph[u][v] < dist[v])
                dist[v] = dist[u] + graph[u][v];
    }
    for (int i = 0; i < V; i++)
        printf("%d \t\t %d\n", i, dist[i]);
}
