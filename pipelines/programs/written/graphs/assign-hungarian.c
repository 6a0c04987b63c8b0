#include <limits.h>
#ifndef WORKERS
#define WORKERS 24
#endif
#ifndef JOBS
#define JOBS 28
#endif

/* Cheapest assignment of each worker to one job (WORKERS <= JOBS), potentials method.
   Potentials are returned so that the caller can verify optimality. */
int assign_jobs(int cost[WORKERS][JOBS], int job_of[WORKERS], int pot_worker[WORKERS], int pot_job[JOBS])
{
    int u[WORKERS + 1] = {0}, v[JOBS + 1] = {0}, owner[JOBS + 1] = {0}, way[JOBS + 1] = {0};

    for (int w = 1; w <= WORKERS; ++w) {
        int slack[JOBS + 1], used[JOBS + 1];
        int j0 = 0;
        owner[0] = w;
        for (int j = 0; j <= JOBS; ++j) { slack[j] = INT_MAX; used[j] = 0; }

        do {
            int i0 = owner[j0], delta = INT_MAX, j1 = 0;
            used[j0] = 1;
            for (int j = 1; j <= JOBS; ++j) {
                if (used[j]) continue;
                int red = cost[i0 - 1][j - 1] - u[i0] - v[j];
                if (red < slack[j]) { slack[j] = red; way[j] = j0; }
                if (slack[j] < delta) { delta = slack[j]; j1 = j; }
            }
            for (int j = 0; j <= JOBS; ++j) {
                if (used[j]) { u[owner[j]] += delta; v[j] -= delta; }
                else if (slack[j] != INT_MAX) slack[j] -= delta;
            }
            j0 = j1;
        } while (owner[j0] != 0);

        while (j0 != 0) {
            int j1 = way[j0];
            owner[j0] = owner[j1];
            j0 = j1;
        }
    }

    int total = 0;
    for (int j = 1; j <= JOBS; ++j) {
        pot_job[j - 1] = v[j];
        if (owner[j]) {
            job_of[owner[j] - 1] = j - 1;
            total += cost[owner[j] - 1][j - 1];
        }
    }
    for (int w = 0; w < WORKERS; ++w) pot_worker[w] = u[w + 1];
    return total;
}
