#include <stdint.h>

#ifndef SLOTS
#define SLOTS 256       /* power of two */
#endif
#ifndef INSERTS
#define INSERTS 180
#endif
#ifndef LOOKUPS
#define LOOKUPS 200
#endif

typedef uint32_t U32;

typedef struct {
    U32 key;            /* 0: free */
    U32 val;
} rh_slot;

static rh_slot rh_tab[SLOTS];

static U32 rh_home(U32 key) { return (key * 2654435769u) >> 16 & (SLOTS - 1); }
static U32 rh_dist(U32 pos, U32 key) { return (pos - rh_home(key)) & (SLOTS - 1); }

/* duplicates add up; returns 1 when a new key was stored */
static int rh_add(U32 key, U32 val)
{
    U32 pos = rh_home(key), dist = 0;
    int is_new = 0, carried = 0;

    while (rh_tab[pos].key) {
        if (!carried && rh_tab[pos].key == key) {
            rh_tab[pos].val += val;
            return 0;
        }
        U32 other = rh_dist(pos, rh_tab[pos].key);
        if (other < dist) {             /* rich one gives way */
            rh_slot t = rh_tab[pos];
            rh_tab[pos].key = key; rh_tab[pos].val = val;
            key = t.key; val = t.val;
            dist = other;
            carried = is_new = 1;
        }
        pos = (pos + 1) & (SLOTS - 1);
        ++dist;
    }
    rh_tab[pos].key = key;
    rh_tab[pos].val = val;
    return is_new | 1;
}

static const rh_slot *rh_find(U32 key)
{
    U32 pos = rh_home(key), dist = 0;
    for (;;) {
        const rh_slot *s = rh_tab + pos;
        if (!s->key || rh_dist(pos, s->key) < dist) return 0;
        if (s->key == key) return s;
        pos = (pos + 1) & (SLOTS - 1);
        ++dist;
    }
}

/* erase by shifting the cluster back */
static void rh_erase(U32 key)
{
    const rh_slot *s = rh_find(key);
    if (!s) return;
    U32 pos = (U32)(s - rh_tab);
    for (;;) {
        U32 nxt = (pos + 1) & (SLOTS - 1);
        if (!rh_tab[nxt].key || rh_dist(nxt, rh_tab[nxt].key) == 0) break;
        rh_tab[pos] = rh_tab[nxt];
        pos = nxt;
    }
    rh_tab[pos].key = 0;
}

U32 rh_run(const U32 *keys, const uint8_t *amount, const U32 *ask, U32 *answer)
{
    U32 live = 0;
    for (U32 i = 0; i < SLOTS; i++) rh_tab[i].key = rh_tab[i].val = 0;
    for (U32 i = 0; i < INSERTS; i++) live += (U32)rh_add(keys[i], amount[i]);
    for (U32 i = 0; i < INSERTS; i += 5) rh_erase(keys[i] ^ 1u);
    for (U32 i = 0; i < LOOKUPS; i++) {
        const rh_slot *s = rh_find(ask[i]);
        answer[i] = s ? s->val : ~0u;
    }
    return live;
}
