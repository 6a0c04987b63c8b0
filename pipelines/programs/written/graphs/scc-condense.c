#include <stdint.h>

#ifndef V
#define V 120
#endif
#ifndef E
#define E 220
#endif

typedef struct
{
    int vertex;
    int edge;           /* next edge to look at */
} Frame;

/* Tarjan's algorithm with a frame stack of its own. Components are numbered in
   reverse topological order; the condensed graph's out-degrees come along. */
int scc_condense(const int *row, const int *col, int *comp, int *comp_size, int *comp_out)
{
    static Frame frames[V];
    static int index[V], low[V], pending[V];
    int nframes = 0, npending = 0, clock = 0, ncomp = 0;

    for (int v = 0; v < V; v++)
    {
        index[v] = 0;
        comp[v] = -1;
        comp_size[v] = comp_out[v] = 0;
    }

    for (int start = 0; start < V; start++)
    {
        if (index[start])
            continue;
        frames[nframes++] = (Frame){ start, row[start] };
        index[start] = low[start] = ++clock;
        pending[npending++] = start;

        while (nframes)
        {
            Frame *f = &frames[nframes - 1];
            int v = f->vertex;
            if (f->edge < row[v + 1])
            {
                int w = col[f->edge++];
                if (!index[w])
                {
                    index[w] = low[w] = ++clock;
                    pending[npending++] = w;
                    frames[nframes++] = (Frame){ w, row[w] };
                }
                else if (comp[w] < 0 && index[w] < low[v])
                    low[v] = index[w];
                continue;
            }
            if (low[v] == index[v])
            {
                int w;
                do
                {
                    w = pending[--npending];
                    comp[w] = ncomp;
                    comp_size[ncomp]++;
                }
                while (w != v);
                ncomp++;
            }
            nframes--;
            if (nframes)
            {
                int u = frames[nframes - 1].vertex;
                if (low[v] < low[u])
                    low[u] = low[v];
            }
        }
    }

    for (int v = 0; v < V; v++)
        for (int e = row[v]; e < row[v + 1]; e++)
            if (comp[col[e]] != comp[v])
                comp_out[comp[v]]++;
    return ncomp;
}
