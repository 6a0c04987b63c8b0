/* k nearest neighbours on byte features, squared Euclidean distance.
   The list of the best K is kept sorted by insertion. */

#ifndef REFS
#define REFS 128
#endif
#ifndef DIM
#define DIM 8
#endif
#ifndef QUERIES
#define QUERIES 6
#endif
#ifndef K
#define K 5
#endif

#define CLASSES 4
#define SQ(a)   ((a) * (a))

typedef unsigned char u8;
typedef unsigned int  u32;

struct cand {
    u32 dist;
    u8  label;
};

static struct cand best[K];
static int         filled;

/* distance, given up as soon as it reaches `limit` */
static u32 distance(const u8 *a, const u8 *b, u32 limit)
{
    u32 d = 0;
    for (int i = 0; i < DIM; i++) {
        d += (u32)SQ((int)a[i] - (int)b[i]);
        if (d >= limit)
            return limit;
    }
    return d;
}

static void offer(u32 d, u8 label)
{
    int at = filled < K ? filled++ : K - 1;
    while (at > 0 && best[at - 1].dist > d) {
        best[at] = best[at - 1];
        at--;
    }
    best[at].dist  = d;
    best[at].label = label;
}

/* Returns how many queries had a unanimous neighbourhood. */
u32 knn_classify(const u8 *refs, const u8 *labels, const u8 *query, u8 *winner)
{
    u32 unanimous = 0;

    for (int q = 0; q < QUERIES; q++, query += DIM) {
        filled = 0;
        for (int r = 0; r < REFS; r++) {
            u32 limit = filled < K ? 0xFFFFFFFFu : best[K - 1].dist;
            u32 d = distance(query, refs + r * DIM, limit);
            if (d < limit)
                offer(d, labels[r]);
        }

        /* nearer neighbours weigh more */
        u32 votes[CLASSES] = { 0 };
        for (int i = 0; i < K; i++)
            votes[best[i].label % CLASSES] += (u32)(K - i);

        u8 top = best[0].label % CLASSES;   /* wins a tie */
        for (u8 c = 0; c < CLASSES; c++)
            if (votes[c] > votes[top])
                top = c;
        winner[q] = top;
        if (votes[top] == K * (K + 1) / 2)
            unanimous++;
    }
    return unanimous;
}
