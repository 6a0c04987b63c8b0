#include <stdbool.h>

#ifndef NODES
#define NODES 48
#endif
#ifndef EDGES
#define EDGES 72
#endif

/* Renumbering of a symmetric sparse matrix for a small bandwidth (reverse
   Cuthill-McKee). Only the pattern is needed, given as a list of edges. */

typedef short Node;

static Node Adj[2 * EDGES];
static int  Start[NODES + 1];
static Node Queue[NODES];
static int  Level[NODES];
static bool Placed[NODES];

static int Degree(Node v) { return Start[v + 1] - Start[v]; }

static void BuildGraph(const Node (*Edge)[2])
{
    int Fill[NODES];
    int e, v;

    for (v = 0; v <= NODES; v++)
        Start[v] = 0;
    for (e = 0; e < EDGES; e++)
        if (Edge[e][0] != Edge[e][1]) {
            Start[Edge[e][0] + 1]++;
            Start[Edge[e][1] + 1]++;
        }
    for (v = 0; v < NODES; v++) {
        Start[v + 1] += Start[v];
        Fill[v] = Start[v];
    }
    for (e = 0; e < EDGES; e++) {
        Node a = Edge[e][0], b = Edge[e][1];
        if (a == b)
            continue;
        Adj[Fill[a]++] = b;
        Adj[Fill[b]++] = a;
    }
}

/* Breadth first from Root, neighbours by ascending degree.
   Queue gets the order; *Depth the number of the last level. */
static int Bfs(Node Root, int *Depth)
{
    int Head = 0, Tail = 0, i;

    for (i = 0; i < NODES; i++)
        Level[i] = -1;
    Queue[Tail++] = Root;
    Level[Root] = 0;

    while (Head < Tail) {
        const Node v = Queue[Head++];
        const int Begin = Tail;

        for (i = Start[v]; i < Start[v + 1]; i++) {
            const Node w = Adj[i];
            int k;

            if (Level[w] >= 0)
                continue;
            Level[w] = Level[v] + 1;
            for (k = Tail++; k > Begin && Degree(Queue[k - 1]) > Degree(w); k--)
                Queue[k] = Queue[k - 1];
            Queue[k] = w;
        }
    }
    *Depth = Level[Queue[Tail - 1]];
    return Tail;
}

/* Walk to the far end of the component until it gets no farther. */
static Node Peripheral(Node Root)
{
    int Depth, Next, Count;

    Count = Bfs(Root, &Depth);
    for (;;) {
        Node Best = Queue[Count - 1];
        int i = Count - 1;

        while (i >= 0 && Level[Queue[i]] == Depth) {
            if (Degree(Queue[i]) < Degree(Best))
                Best = Queue[i];
            i--;
        }
        Count = Bfs(Best, &Next);
        if (Next <= Depth)
            return Best;
        Depth = Next;
    }
}

static int Bandwidth(const Node (*Edge)[2], const Node *Place)
{
    int Widest = 0, e;

    for (e = 0; e < EDGES; e++) {
        int a = Place ? Place[Edge[e][0]] : Edge[e][0];
        int b = Place ? Place[Edge[e][1]] : Edge[e][1];
        int d = a > b ? a - b : b - a;
        if (d > Widest)
            Widest = d;
    }
    return Widest;
}

/* Place[old] = new. Width: bandwidth before and after.
   Value: number of components. */
int ReverseCuthillMcKee(const Node (*Edge)[2], Node *Place, int *Width)
{
    int Done = 0, Components = 0, v, i;

    BuildGraph(Edge);
    for (v = 0; v < NODES; v++)
        Placed[v] = false;

    while (Done < NODES) {
        Node Root = -1;
        int Depth, Count;

        for (v = 0; v < NODES; v++)
            if (!Placed[v] && (Root < 0 || Degree((Node)v) < Degree(Root)))
                Root = (Node)v;

        Root = Peripheral(Root);
        Count = Bfs(Root, &Depth);
        for (i = 0; i < Count; i++) {
            Placed[Queue[i]] = true;
            Place[Queue[i]] = (Node)(NODES - 1 - Done++);
        }
        Components++;
    }

    Width[0] = Bandwidth(Edge, 0);
    Width[1] = Bandwidth(Edge, Place);
    return Components;
}
