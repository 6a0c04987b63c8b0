#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef CAP
#define CAP 256
#endif
#ifndef OPS
#define OPS 400
#endif

typedef enum { OP_GET = 0, OP_ADD, OP_DEL } RhOp;

typedef struct
{
    int32_t key;
    int32_t val;
    int16_t psl;    // probe length + 1, 0 when free
} RhSlot;

static RhSlot g_slots[CAP];
static int g_used;

static unsigned RhHome(int32_t key)
{
    uint32_t h = (uint32_t)key;
    h ^= h >> 16;
    h *= 0x45d9f3bu;
    h ^= h >> 16;
    return h % CAP;
}

static int RhLocate(int32_t key)
{
    unsigned i = RhHome(key);
    int16_t d = 1;
    for (;;)
    {
        if (g_slots[i].psl < d)
            return -1;      // a poorer key would have taken this slot
        if (g_slots[i].key == key)
            return (int)i;
        i = (i + 1 == CAP) ? 0 : i + 1;
        ++d;
    }
}

static bool RhAdd(int32_t key, int32_t delta)
{
    int at = RhLocate(key);
    if (at >= 0)
    {
        g_slots[at].val += delta;
        return true;
    }
    if (g_used >= CAP * 7 / 8)
        return false;
    RhSlot cur = { key, delta, 1 };
    unsigned i = RhHome(key);
    while (g_slots[i].psl)
    {
        if (g_slots[i].psl < cur.psl)
        {
            RhSlot t = g_slots[i];
            g_slots[i] = cur;
            cur = t;
        }
        i = (i + 1) % CAP;
        cur.psl++;
    }
    g_slots[i] = cur;
    g_used++;
    return true;
}

static bool RhDelete(int32_t key)
{
    int at = RhLocate(key);
    if (at < 0)
        return false;
    unsigned i = (unsigned)at, n = (i + 1) % CAP;
    while (g_slots[n].psl > 1)      // backward shift
    {
        g_slots[i] = g_slots[n];
        g_slots[i].psl--;
        i = n;
        n = (n + 1) % CAP;
    }
    g_slots[i].psl = 0;
    g_used--;
    return true;
}

int RhReplay(const uint8_t *ops, const int32_t *keys, const int32_t *deltas, int32_t *answer)
{
    int refused = 0;

    memset(g_slots, 0, sizeof g_slots);
    g_used = 0;
    for (int k = 0; k < OPS; ++k)
    {
        int at;
        switch ((RhOp)ops[k])
        {
        case OP_ADD:
            if (!RhAdd(keys[k], deltas[k]))
                ++refused;
            answer[k] = g_used;
            break;
        case OP_DEL:
            answer[k] = RhDelete(keys[k]) ? 1 : 0;
            break;
        default:
            at = RhLocate(keys[k]);
            answer[k] = at < 0 ? INT32_MIN : g_slots[at].val;
            break;
        }
    }
    return refused;
}
