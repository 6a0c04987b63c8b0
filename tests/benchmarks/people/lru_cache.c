#include <stdint.h>
#include <string.h>
#include <stdio.h>
#include <assert.h>

#define WAYS 4
#define SETS 8

struct line {
    uint32_t tag;
    uint8_t valid : 1;
    uint8_t dirty : 1;
    uint8_t age : 6;
};

struct cache {
    struct line lines[SETS][WAYS];
    unsigned hits, misses;
};

static void touch(struct line *set, int way)
{
    for (int i = 0; i < WAYS; i++)
        if (set[i].age < 63)
            set[i].age++;
    set[way].age = 0;
}

static int access_line(struct cache *c, uint32_t address)
{
    struct line *set = c->lines[(address >> 4) % SETS];
    uint32_t tag = address >> 7;
    int victim = 0;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].valid && set[i].tag == tag) {
            c->hits++;
            touch(set, i);
            return 1;
        }
        if (!set[i].valid || set[i].age > set[victim].age)
            victim = i;
    }
    c->misses++;
    set[victim].tag = tag;
    set[victim].valid = 1;
    touch(set, victim);
    return 0;
}

unsigned simulate_cache(const uint32_t trace[100])
{
    struct cache c;
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 100; i++)
        access_line(&c, trace[i] & 0xfff);
    assert(c.hits + c.misses == 100);
    printf("%u hits, %u misses\n", c.hits, c.misses);
    return c.hits;
}
