/* Maximum flow from node 0 to node NV-1, push-relabel with a FIFO of active
 * nodes. cap is a dense matrix; the diagonal is ignored. */

#ifndef NV
#define NV 14
#endif

#define SRC  0
#define SINK (NV - 1)

static int height[NV], excess[NV], pointer[NV];
static int fifo[NV], fifoHead, fifoLen;
static char active[NV];

static void activate(int v)
{
    if (v == SRC || v == SINK || active[v]) return;
    active[v] = 1;
    fifo[(fifoHead + fifoLen++) % NV] = v;
}

static void push(int flow[NV][NV], int u, int v, int amount)
{
    flow[u][v] += amount;
    flow[v][u] -= amount;           /* skew symmetric */
    excess[u] -= amount;
    excess[v] += amount;
    activate(v);
}

static void relabel(const int cap[NV][NV], int flow[NV][NV], int u)
{
    int lowest = 2 * NV;
    for (int v = 0; v < NV; v++)
        if (v != u && cap[u][v] > flow[u][v] && height[v] < lowest)
            lowest = height[v];
    height[u] = lowest + 1;
}

int max_flow(const int cap[NV][NV], int flow[NV][NV], unsigned char source_side[NV])
{
    for (int u = 0; u < NV; u++) {
        height[u] = excess[u] = pointer[u] = active[u] = 0;
        for (int v = 0; v < NV; v++) flow[u][v] = 0;
    }
    fifoHead = fifoLen = 0;

    height[SRC] = NV;
    for (int v = 1; v < NV; v++)
        if (cap[SRC][v] > 0) push(flow, SRC, v, cap[SRC][v]);

    while (fifoLen > 0) {
        int u = fifo[fifoHead];
        fifoHead = (fifoHead + 1) % NV;
        fifoLen--;
        active[u] = 0;

        while (excess[u] > 0) {
            int v = pointer[u];
            if (v == NV) {
                relabel(cap, flow, u);
                pointer[u] = 0;
                continue;
            }
            int rest = v == u ? 0 : cap[u][v] - flow[u][v];
            if (rest > 0 && height[u] == height[v] + 1)
                push(flow, u, v, rest < excess[u] ? rest : excess[u]);
            else
                pointer[u]++;
        }
    }

    /* the cut: what still can be reached from the source */
    int grew;
    for (int v = 0; v < NV; v++) source_side[v] = v == SRC;
    do {
        grew = 0;
        for (int u = 0; u < NV; u++) {
            if (!source_side[u]) continue;
            for (int v = 0; v < NV; v++)
                if (v != u && !source_side[v] && cap[u][v] > flow[u][v])
                    source_side[v] = 1, grew = 1;
        }
    } while (grew);

    return excess[SINK];
}

int main(void)
{
    static int cap[NV][NV], flow[NV][NV];
    static unsigned char side[NV];
    int u, v, value, cut = 0;

    for (u = 0; u < NV; u++)
        for (v = 0; v < NV; v++)
            cap[u][v] = (u * 7 + v * 13) % 11 > 6 ? (u * v + 3) % 9 : 0;
    value = max_flow(cap, flow, side);
    for (u = 0; u < NV; u++)
        for (v = 0; v < NV; v++)
            if (side[u] && !side[v]) cut += cap[u][v];
    return value == cut ? 0 : 1;
}
