#include <stdint.h>
#include <stdbool.h>

#ifndef CAP
#define CAP 128
#endif
#ifndef OPS
#define OPS 400
#endif

/* 4-ary heap of timers with positions, so that a timer can be moved or cancelled. */
#define NOPOS 0xFFFF

typedef struct {
    uint32_t when[CAP];
    uint16_t heap[CAP];
    uint16_t pos[CAP];
    uint16_t n;
} tm_queue;

static tm_queue Q;

static inline bool tm_earlier(uint16_t a, uint16_t b)
{
    /* wrap-around comparison of ticks */
    return (int32_t)(Q.when[a] - Q.when[b]) < 0;
}

static inline void tm_set(uint16_t slot, uint16_t id) { Q.heap[slot] = id; Q.pos[id] = slot; }

static void tm_up(uint16_t slot)
{
    uint16_t id = Q.heap[slot];
    while (slot > 0) {
        uint16_t up = (uint16_t)((slot - 1) / 4);
        if (!tm_earlier(id, Q.heap[up])) break;
        tm_set(slot, Q.heap[up]);
        slot = up;
    }
    tm_set(slot, id);
}

static void tm_down(uint16_t slot)
{
    uint16_t id = Q.heap[slot];
    for (;;) {
        unsigned first = 4u * slot + 1u, last = first + 4u, best;
        if (first >= Q.n) break;
        if (last > Q.n) last = Q.n;
        best = first;
        for (unsigned c = first + 1; c < last; c++)
            if (tm_earlier(Q.heap[c], Q.heap[best])) best = c;
        if (!tm_earlier(Q.heap[best], id)) break;
        tm_set(slot, Q.heap[best]);
        slot = (uint16_t)best;
    }
    tm_set(slot, id);
}

static void tm_cancel(uint16_t id)
{
    uint16_t slot = Q.pos[id];
    if (slot == NOPOS) return;
    Q.pos[id] = NOPOS;
    uint16_t last = Q.heap[--Q.n];
    if (last == id) return;
    tm_set(slot, last);
    tm_up(slot);
    tm_down(Q.pos[last]);
}

static void tm_arm(uint16_t id, uint32_t when)
{
    if (Q.pos[id] == NOPOS) {
        Q.when[id] = when;
        tm_set(Q.n, id);
        tm_up(Q.n++);
        return;
    }
    Q.when[id] = when;
    tm_up(Q.pos[id]);
    tm_down(Q.pos[id]);
}

/* op: 0..2 arm, 3 cancel, 4.. advance by arg ticks and fire what is due */
int timer_script(const uint8_t *op, const uint16_t *arg, uint32_t now, uint16_t *fired)
{
    int nfired = 0;
    Q.n = 0;
    for (int i = 0; i < CAP; i++) Q.pos[i] = NOPOS;

    for (int i = 0; i < OPS; i++) {
        uint16_t id = (uint16_t)(arg[i] % CAP);
        if (op[i] < 3)
            tm_arm(id, now + 5u + (arg[i] >> 3));
        else if (op[i] == 3)
            tm_cancel(id);
        else {
            now += arg[i] >> 4;
            while (Q.n > 0 && nfired < OPS && (int32_t)(Q.when[Q.heap[0]] - now) <= 0) {
                fired[nfired++] = Q.heap[0];
                tm_cancel(Q.heap[0]);
            }
        }
    }
    return nfired;
}
