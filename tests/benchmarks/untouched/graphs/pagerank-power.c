#ifndef PAGES
#define PAGES 64
#endif
#ifndef LINKS
#define LINKS 256
#endif
#ifndef LIMIT
#define LIMIT 25
#endif

/* PageRank by power iteration. first[p] .. first[p+1]-1 are the links of
   page p; a page without links spreads its rank over all pages. Stops when
   the ranks move by less than eps in total. Returns the rounds used. */
int pagerank(const int *first, const int *link, double damping, double eps, double *rank)
{
    double buffer[PAGES];
    double *now = rank, *then = buffer, *swap;
    double change;
    int p, l, round = 0;

    for (p = 0; p < PAGES; p++)
        now[p] = 1.0 / PAGES;

    do {
        double lost = 0.0, base;

        for (p = 0; p < PAGES; p++)
            then[p] = 0.0;
        for (p = 0; p < PAGES; p++) {
            int degree = first[p + 1] - first[p];
            if (degree == 0) {
                lost += now[p];
            } else {
                double share = now[p] / degree;
                for (l = first[p]; l < first[p + 1]; l++)
                    then[link[l]] += share;
            }
        }

        base = (1.0 - damping + damping * lost) / PAGES;
        change = 0.0;
        for (p = 0; p < PAGES; p++) {
            double moved;
            then[p] = base + damping * then[p];
            moved = then[p] - now[p];
            change += moved < 0 ? -moved : moved;
        }
        swap = now; now = then; then = swap;
    } while (++round < LIMIT && change > eps);

    if (now != rank)
        for (p = 0; p < PAGES; p++)
            rank[p] = now[p];
    return round;
}
