/* Critical path of a project plan.
   Tasks are weighted with their durations; "precedes[i] before follows[i]".
   Both passes run over a topological order after Kahn. */

#include <stdint.h>
#include <stddef.h>

#ifndef NTASKS
#define NTASKS 80
#endif
#ifndef NRULES
#define NRULES 200
#endif

enum plan_status { PLAN_OK = 0, PLAN_BAD_TASK = -1, PLAN_CYCLE = -2 };

struct task_times {
    uint32_t early_start;
    uint32_t late_start;
    uint32_t slack;
};

/* singly linked lists of successors; index 0 is the end of a list */
static uint16_t head[NTASKS], link[NRULES + 1], succ[NRULES + 1];
static uint16_t indegree[NTASKS];
static uint16_t topo[NTASKS];

int plan_schedule(const uint8_t *duration, const uint16_t *task_a, const uint16_t *task_b,
                  struct task_times *times, uint32_t *total, uint16_t *critical)
{
    int status = PLAN_OK;
    size_t done = 0, ready = 0, i;
    uint32_t finish = 0;

    for (i = 0; i < NTASKS; i++) {
        head[i] = 0;
        indegree[i] = 0;
        times[i].early_start = 0;
    }

    for (i = 0; i < NRULES; i++) {
        uint16_t a = task_a[i], b = task_b[i];
        if (a >= NTASKS || b >= NTASKS) {
            status = PLAN_BAD_TASK;
            goto fail;
        }
        if (a == b)
            continue;               /* says nothing */
        if (a > b) {                /* the lower number comes first */
            uint16_t t = a;
            a = b;
            b = t;
        }
        succ[i + 1] = b;
        link[i + 1] = head[a];
        head[a] = (uint16_t)(i + 1);
        indegree[b]++;
    }

    for (i = 0; i < NTASKS; i++)
        if (indegree[i] == 0)
            topo[ready++] = (uint16_t)i;

    while (done < ready) {
        const uint16_t v = topo[done++];
        const uint32_t end = times[v].early_start + duration[v];
        if (end > finish)
            finish = end;
        for (uint16_t l = head[v]; l != 0; l = link[l]) {
            const uint16_t w = succ[l];
            if (end > times[w].early_start)
                times[w].early_start = end;
            if (--indegree[w] == 0)
                topo[ready++] = w;
        }
    }
    if (done != NTASKS) {
        status = PLAN_CYCLE;
        goto fail;
    }

    *critical = 0;
    while (done-- > 0) {
        const uint16_t v = topo[done];
        uint32_t latest = finish;
        for (uint16_t l = head[v]; l != 0; l = link[l])
            if (times[succ[l]].late_start < latest)
                latest = times[succ[l]].late_start;
        times[v].late_start = latest - duration[v];
        times[v].slack = times[v].late_start - times[v].early_start;
        if (times[v].slack == 0)
            (*critical)++;
    }
    *total = finish;
    return status;

fail:
    *total = 0;
    *critical = 0;
    return status;
}
