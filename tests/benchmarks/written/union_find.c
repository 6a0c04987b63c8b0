#pragma simfoundry range u=0:32 v=0:32
/* Connected components of an edge list; path halving. */
int union_find(const int u[40], const int v[40])
{
    unsigned char parent[32];
    int parts = 32;
    for (int i = 0; i < 32; i++)
        parent[i] = (unsigned char)i;
    for (int e = 0; e < 40; e++) {
        int a = u[e], b = v[e];
        while (parent[a] != a) {
            parent[a] = parent[parent[a]];
            a = parent[a];
        }
        while (parent[b] != b) {
            parent[b] = parent[parent[b]];
            b = parent[b];
        }
        if (a != b) {
            parent[a] = (unsigned char)b;
            parts--;
        }
    }
    return parts;
}
