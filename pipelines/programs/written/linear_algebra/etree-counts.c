/* symbolic Cholesky: elimination tree (with path compression), postorder, exact column counts of L
   by row subtrees. Input: lower triangle pattern in CSR, any columns; those >= row are ignored. */
#ifndef NC
#define NC 64
#endif
#ifndef NZ
#define NZ 180
#endif

#define NONE (-1)

static int  anc[NC], first_child[NC], sibling[NC], mark[NC], stack[NC];

static void build_tree(const int *rp, const int *ci, int *parent)
{
    for (int i = 0; i < NC; i++)
    {
        parent[i] = anc[i] = NONE;
        for (int p = rp[i]; p < rp[i + 1]; p++)
        {
            int j = ci[p];
            while (j != NONE && j < i)
            {
                int up = anc[j];
                anc[j] = i;
                if (up == NONE)
                    parent[j] = i;
                j = up;
            }
        }
    }
}

static void postorder(const int *parent, int *post)
{
    int n = 0, root;

    for (int i = 0; i < NC; i++)
        first_child[i] = NONE;
    for (int i = NC - 1; i >= 0; i--)
        if (parent[i] != NONE)
        {
            sibling[i] = first_child[parent[i]];
            first_child[parent[i]] = i;
        }

    for (root = 0; root < NC; root++)
    {
        if (parent[root] != NONE)
            continue;
        int sp = 0;
        stack[sp++] = root;
        while (sp > 0)
        {
            int v = stack[sp - 1], c = first_child[v];
            if (c == NONE)
            {
                post[n++] = v;
                sp--;
            }
            else
            {
                first_child[v] = sibling[c];
                stack[sp++] = c;
            }
        }
    }
}

/* returns nonzeros of L; *flops: multiply-adds of the numeric factorisation */
long symbolic_analyse(const int *rp, const int *ci, int *parent, int *post, int *count, long *flops)
{
    long lnz = 0;

    build_tree(rp, ci, parent);
    postorder(parent, post);

    for (int i = 0; i < NC; i++)
    {
        count[i] = 1;
        mark[i] = i;
        for (int p = rp[i]; p < rp[i + 1]; p++)
            for (int j = ci[p]; j < i && mark[j] != i; j = parent[j])
            {
                count[j]++;
                mark[j] = i;
            }
    }
    *flops = 0;
    for (int j = 0; j < NC; j++)
    {
        lnz += count[j];
        *flops += (long)count[j] * count[j];
    }
    return lnz;
}
