/*
 * Ordered set as a skip list in a static pool.
 *
 * The height of a node comes from a hash of its key, so the same set always
 * has the same shape and no random numbers are needed.
 */
#include <stdint.h>
#include <stddef.h>

#ifndef OPS
#define OPS 160
#endif

#define MAX_HEIGHT 6
#define POOL       (OPS + 1)
#define HEAD       0
#define NIL        0        /* the head is never a successor */

enum op { OP_INSERT, OP_REMOVE, OP_SUCCESSOR, OP_COUNT_BELOW, OP_KINDS };

struct node {
    int32_t  key;
    uint16_t next[MAX_HEIGHT];
    uint8_t  height;
};

static struct node pool[POOL];
static uint16_t    free_list;
static uint16_t    fresh;

static uint8_t height_of(int32_t key)
{
    uint32_t h = (uint32_t)key * 2654435761u;
    uint8_t  height = 1;

    h ^= h >> 16;
    while (height < MAX_HEIGHT && (h & 1)) {
        h >>= 1;
        height++;
    }
    return height;
}

/* last node with a smaller key, on every level */
static uint16_t find(int32_t key, uint16_t before[MAX_HEIGHT])
{
    uint16_t at = HEAD;

    for (int level = MAX_HEIGHT - 1; level >= 0; level--) {
        uint16_t next = pool[at].next[level];
        while (next != NIL && pool[next].key < key) {
            at = next;
            next = pool[at].next[level];
        }
        before[level] = at;
    }
    return pool[at].next[0];
}

static int insert(int32_t key)
{
    uint16_t before[MAX_HEIGHT];
    uint16_t at = find(key, before);

    if (at != NIL && pool[at].key == key)
        return 0;
    if (free_list != NIL) {
        at = free_list;
        free_list = pool[at].next[0];
    } else {
        at = fresh++;
    }
    pool[at].key = key;
    pool[at].height = height_of(key);
    for (int level = 0; level < pool[at].height; level++) {
        pool[at].next[level] = pool[before[level]].next[level];
        pool[before[level]].next[level] = at;
    }
    return 1;
}

static int erase(int32_t key)
{
    uint16_t before[MAX_HEIGHT];
    uint16_t at = find(key, before);

    if (at == NIL || pool[at].key != key)
        return 0;
    for (int level = 0; level < pool[at].height; level++)
        pool[before[level]].next[level] = pool[at].next[level];
    pool[at].next[0] = free_list;
    free_list = at;
    return 1;
}

/* Runs the script and writes one result per operation. Returns the size
 * of the set at the end, or -1 on an unknown operation. */
int32_t run_script(const uint8_t *op, const int32_t *key, int32_t *result)
{
    uint16_t scratch[MAX_HEIGHT];
    int32_t  size = 0;

    for (size_t l = 0; l < MAX_HEIGHT; l++)
        pool[HEAD].next[l] = NIL;
    free_list = NIL;
    fresh = 1;

    for (size_t i = 0; i < OPS; i++) {
        switch ((enum op)op[i]) {
        case OP_INSERT:
            result[i] = insert(key[i]);
            size += result[i];
            break;
        case OP_REMOVE:
            result[i] = erase(key[i]);
            size -= result[i];
            break;
        case OP_SUCCESSOR: {
            uint16_t at = find(key[i], scratch);
            result[i] = at == NIL ? INT32_MIN : pool[at].key;
            break;
        }
        case OP_COUNT_BELOW: {
            int32_t n = 0;
            uint16_t at = pool[HEAD].next[0];
            for (; at != NIL && pool[at].key < key[i]; at = pool[at].next[0])
                n++;
            result[i] = n;
            break;
        }
        default:
            return -1;
        }
    }
    return size;
}
