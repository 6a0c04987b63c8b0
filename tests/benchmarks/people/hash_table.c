#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SLOTS 64

struct entry {
    uint32_t key;
    int32_t value;
    uint8_t used;
};

static struct entry table[SLOTS];

static uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static struct entry *lookup(uint32_t key)
{
    uint32_t h = hash(key);
    for (int i = 0; i < SLOTS; i++) {
        struct entry *e = &table[(h + i) % SLOTS];
        if (!e->used || e->key == key)
            return e;
    }
    return NULL;
}

int count_keys(const uint32_t keys[40])
{
    memset(table, 0, sizeof table);
    int distinct = 0;
    for (int i = 0; i < 40; i++) {
        struct entry *e = lookup(keys[i] % 50);
        if (e == NULL) {
            fprintf(stderr, "table full\n");
            return -1;
        }
        if (!e->used) {
            e->used = 1;
            e->key = keys[i] % 50;
            e->value = 0;
            distinct++;
        }
        e->value++;
    }
    return distinct;
}
