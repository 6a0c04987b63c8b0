#pragma simfoundry range rank=0.0:1.0 link=0:16
/* Three steps of PageRank; every page links to four others. */
void pagerank_step(float rank[16], const unsigned char link[16][4])
{
    for (int it = 0; it < 3; it++) {
        float next[16];
        for (int i = 0; i < 16; i++)
            next[i] = 0.15f / 16;
        for (int i = 0; i < 16; i++) {
            float share = rank[i] * (0.85f / 4);
            for (int k = 0; k < 4; k++)
                next[link[i][k]] += share;
        }
        for (int i = 0; i < 16; i++)
            rank[i] = next[i];
    }
}
