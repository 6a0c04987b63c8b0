#include <stdio.h>
#ifndef TASKS
#define TASKS 60
#endif
#ifndef DEPS
#define DEPS 150
#endif

/* CPM schedule. A dependency (a, b) counts from the lower to the higher number,
 * with a lag. Kahn order, forward pass, backward pass, slack. */
struct task {
    int duration;
    int early, late;
    int indeg;
    int firstdep;
};

static struct task tasks[TASKS];
static int order[TASKS];

int cpm_schedule(const int *duration, const int *dep_a, const int *dep_b, const int *lag,
                 int *early, int *slack, int *critical)
{
    int nextdep[DEPS], lo, hi, end = 0, head = 0, tail = 0, ncrit = 0;

    for (int i = 0; i < TASKS; i++) {
        tasks[i].duration = duration[i];
        tasks[i].early = 0;
        tasks[i].indeg = 0;
        tasks[i].firstdep = -1;
    }
    for (int d = 0; d < DEPS; d++) {
        if (dep_a[d] == dep_b[d])
            continue;
        lo = dep_a[d] < dep_b[d] ? dep_a[d] : dep_b[d];
        hi = dep_a[d] + dep_b[d] - lo;
        nextdep[d] = tasks[lo].firstdep;
        tasks[lo].firstdep = d;
        tasks[hi].indeg++;
    }

    for (int i = 0; i < TASKS; i++)
        if (tasks[i].indeg == 0)
            order[tail++] = i;
    while (head < tail) {
        struct task *t = &tasks[order[head]];
        int self = order[head++];
        int fin = t->early + t->duration;
        if (fin > end)
            end = fin;
        for (int d = t->firstdep; d >= 0; d = nextdep[d]) {
            struct task *s = &tasks[dep_a[d] + dep_b[d] - self];
            if (fin + lag[d] > s->early)
                s->early = fin + lag[d];
            if (--s->indeg == 0)
                order[tail++] = (int)(s - tasks);
        }
    }
    if (tail < TASKS)
        return -1;              /* cycle: cannot be, but who knows */

    while (tail-- > 0) {
        struct task *t = &tasks[order[tail]];
        t->late = end - t->duration;
        for (int d = t->firstdep; d >= 0; d = nextdep[d]) {
            const struct task *s = &tasks[dep_a[d] + dep_b[d] - order[tail]];
            int l = s->late - lag[d] - t->duration;
            if (l < t->late)
                t->late = l;
        }
    }
    for (int i = 0; i < TASKS; i++) {
        early[i] = tasks[i].early;
        slack[i] = tasks[i].late - tasks[i].early;
        if (slack[i] == 0)
            critical[ncrit++] = i;
    }
    return end;
}

int main(void)
{
    int dur[TASKS], a[DEPS], b[DEPS], lag[DEPS], e[TASKS], s[TASKS], c[TASKS];
    for (int i = 0; i < TASKS; i++) dur[i] = 1 + i * 5 % 9;
    for (int i = 0; i < DEPS; i++) { a[i] = i * 7 % TASKS; b[i] = i * 11 % TASKS; lag[i] = i % 3; }
    int n = cpm_schedule(dur, a, b, lag, e, s, c);
    printf("project takes %d days\n", n);
    return n < 0;
}
