#define V 10
#define FAR 0x3fffffff
#pragma simfoundry range weight=1:50
/* Distances from vertex 0; weights above 35 mean no edge. */
void dijkstra_matrix(const int weight[V][V], int dist[V], int parent[V])
{
    int done[V];
    for (int i = 0; i < V; i++) {
        dist[i] = FAR;
        parent[i] = -1;
        done[i] = 0;
    }
    dist[0] = 0;
    for (int round = 0; round < V; round++) {
        int u = -1;
        for (int i = 0; i < V; i++)
            if (!done[i] && (u < 0 || dist[i] < dist[u]))
                u = i;
        if (u < 0 || dist[u] == FAR)
            break;
        done[u] = 1;
        for (int i = 0; i < V; i++)
            if (weight[u][i] <= 35 && dist[u] + weight[u][i] < dist[i]) {
                dist[i] = dist[u] + weight[u][i];
                parent[i] = u;
            }
    }
}
