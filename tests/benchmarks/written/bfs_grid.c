/* Steps from a corner of a maze to the other one; -1 when it is closed. */
#pragma simfoundry range wall=0:4
#define S 8
int bfs_grid(const unsigned char wall[S * S])
{
    signed char dist[S * S];
    unsigned char queue[S * S];
    int head = 0, tail = 0;

    for (int i = 0; i < S * S; i++)
        dist[i] = -1;
    dist[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        int at = queue[head++];
        int r = at / S, c = at % S;
        for (int d = 0; d < 4; d++) {
            int nr = r + (d == 0) - (d == 1), nc = c + (d == 2) - (d == 3);
            if (nr < 0 || nc < 0 || nr >= S || nc >= S)
                continue;
            int n = nr * S + nc;
            if (dist[n] < 0 && wall[n] != 3) {
                dist[n] = (signed char)(dist[at] + 1);
                queue[tail++] = (unsigned char)n;
            }
        }
    }
    return dist[S * S - 1];
}
