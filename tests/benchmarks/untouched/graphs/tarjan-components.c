/*
 * Strongly connected components of a call graph, after Tarjan, without
 * recursion, followed by the condensation: which component calls which.
 *
 * Components are numbered in the order in which they are completed, so an
 * edge between two components always leads from a larger to a smaller number.
 */

#include <stddef.h>
#include <stdbool.h>

#ifndef FUNCS
#define FUNCS 96
#endif
#ifndef CALLS
#define CALLS 200
#endif

struct frame
{
    unsigned func;
    unsigned next_call;
};

struct scc_state
{
    unsigned     clock;
    unsigned     order[FUNCS];      /* 0 = not visited yet */
    unsigned     low[FUNCS];
    bool         open[FUNCS];
    unsigned     pending[FUNCS];
    size_t       pending_count;
    struct frame frame[FUNCS];
    size_t       depth;
};

static struct scc_state walk;

static void enter(unsigned f, const unsigned *row)
{
    walk.order[f] = walk.low[f] = ++walk.clock;
    walk.open[f] = true;
    walk.pending[walk.pending_count++] = f;
    walk.frame[walk.depth].func = f;
    walk.frame[walk.depth].next_call = row[f];
    walk.depth++;
}

static void lower(unsigned f, unsigned value)
{
    if (value < walk.low[f])
        walk.low[f] = value;
}

/* Takes everything above f off the stack of pending functions. */
static unsigned close_component(unsigned f, unsigned number, unsigned *component)
{
    unsigned size = 0, g;

    do
    {
        g = walk.pending[--walk.pending_count];
        walk.open[g] = false;
        component[g] = number;
        size++;
    }
    while (g != f);

    return size;
}

/*
 * row, callee   call graph in compressed rows
 * component     out: number of the component of every function
 * members       out: size per component (the rest is 0)
 * level         out: longest chain of components below (0 = calls no other)
 * returns the number of components
 */
unsigned call_graph_components(const unsigned *row, const unsigned *callee,
                               unsigned *component, unsigned *members, unsigned *level)
{
    unsigned components = 0;

    walk.clock = 0;
    walk.pending_count = 0;
    walk.depth = 0;
    for (unsigned f = 0; f < FUNCS; f++)
    {
        walk.order[f] = 0;
        walk.open[f] = false;
        members[f] = 0;
        level[f] = 0;
    }

    for (unsigned root = 0; root < FUNCS; root++)
    {
        if (walk.order[root] != 0)
            continue;
        enter(root, row);

        while (walk.depth > 0)
        {
            struct frame *top = &walk.frame[walk.depth - 1];
            const unsigned f = top->func;

            if (top->next_call < row[f + 1])
            {
                const unsigned g = callee[top->next_call++];

                if (walk.order[g] == 0)
                {
                    enter(g, row);
                }
                else if (walk.open[g])
                {
                    lower(f, walk.order[g]);
                }
                continue;
            }

            if (walk.low[f] == walk.order[f])
            {
                members[components] = close_component(f, components, component);
                components++;
            }
            walk.depth--;
            if (walk.depth > 0)
                lower(walk.frame[walk.depth - 1].func, walk.low[f]);
        }
    }

    /* Callees have smaller numbers: one pass per component is enough. */
    for (unsigned c = 0; c < components; c++)
    {
        for (unsigned f = 0; f < FUNCS; f++)
        {
            if (component[f] != c)
                continue;
            for (unsigned e = row[f]; e < row[f + 1]; e++)
            {
                const unsigned d = component[callee[e]];
                if (d != c && level[d] + 1 > level[c])
                {
                    level[c] = level[d] + 1;
                }
            }
        }
    }
    return components;
}
