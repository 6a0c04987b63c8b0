#include <stdint.h>
#ifndef EVENTS
#define EVENTS 220
#endif
#ifndef WINDOW
#define WINDOW 60
#endif

#define LEVELS 6
#define NIL    0xFFFFu
#define HEAD   WINDOW        /* node WINDOW is the head */

/* Skip list over a sliding window of samples, widths are kept per link so that
   any order statistic is found in log time. Levels come from the event number
   (ruler function), so the shape is reproducible. */
struct sl_node {
    int32_t  key;
    uint16_t next[LEVELS];
    uint16_t span[LEVELS];   /* nodes stepped over, this link */
    uint8_t  height;
};

static struct sl_node pool[WINDOW + 1];

static uint8_t height_of(unsigned event)
{
    uint8_t h = 1;
    while (h < LEVELS && !(event & 1u)) { ++h; event >>= 1; }
    return h;
}

static int before(uint16_t n, int32_t key, uint16_t id)
{
    return pool[n].key < key || (pool[n].key == key && n < id);
}

static void sl_insert(uint16_t id, int32_t key, uint8_t h)
{
    uint16_t at = HEAD, upd[LEVELS], rank[LEVELS], walked = 0;
    struct sl_node *n = &pool[id];
    for (int l = LEVELS - 1; l >= 0; --l) {
        while (pool[at].next[l] != NIL && before(pool[at].next[l], key, id)) {
            walked = (uint16_t)(walked + pool[at].span[l]);
            at = pool[at].next[l];
        }
        upd[l] = at;
        rank[l] = walked;
    }
    n->key = key;
    n->height = h;
    for (int l = 0; l < LEVELS; ++l) {
        struct sl_node *u = &pool[upd[l]];
        if (l >= h) { u->span[l]++; continue; }
        uint16_t gap = (uint16_t)(walked - rank[l]);
        n->next[l] = u->next[l];
        n->span[l] = (uint16_t)(u->span[l] - gap);
        u->next[l] = id;
        u->span[l] = (uint16_t)(gap + 1);
    }
}

static void sl_remove(uint16_t id)
{
    uint16_t at = HEAD;
    const struct sl_node *n = &pool[id];
    for (int l = LEVELS - 1; l >= 0; --l) {
        while (pool[at].next[l] != NIL && pool[at].next[l] != id && before(pool[at].next[l], n->key, id))
            at = pool[at].next[l];
        if (l < n->height) {
            pool[at].span[l] = (uint16_t)(pool[at].span[l] + n->span[l] - 1);
            pool[at].next[l] = n->next[l];
        } else
            pool[at].span[l]--;
    }
}

static int32_t sl_nth(unsigned k)         /* k = 0: least */
{
    uint16_t at = HEAD;
    unsigned pos = 0;
    for (int l = LEVELS - 1; l >= 0; --l)
        while (pool[at].next[l] != NIL && pos + pool[at].span[l] <= k + 1) {
            pos += pool[at].span[l];
            at = pool[at].next[l];
        }
    return pool[at].key;
}

void quantile_track(const int32_t *sample, unsigned percent, int32_t *quant)
{
    unsigned used = 0;
    for (int l = 0; l < LEVELS; ++l) { pool[HEAD].next[l] = NIL; pool[HEAD].span[l] = 1; }
    for (unsigned e = 0; e < EVENTS; ++e) {
        uint16_t id = (uint16_t)(e % WINDOW);
        if (e >= WINDOW) sl_remove(id); else used++;
        sl_insert(id, sample[e], height_of(e + 1));
        quant[e] = sl_nth((used - 1) * percent / 100);
    }
}
