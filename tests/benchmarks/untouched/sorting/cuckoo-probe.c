#include <stdint.h>
#include <stdbool.h>

#ifndef LOG_SLOTS
#define LOG_SLOTS 6
#endif
#ifndef ENTRIES
#define ENTRIES 56
#endif
#ifndef QUERIES
#define QUERIES 96
#endif

enum { SLOTS = 1 << LOG_SLOTS, MAX_KICKS = 24, STASH = 8 };

struct Entry { uint32_t key; int32_t value; };   // key 0 marks a free slot

static struct Entry table[2][SLOTS];
static struct Entry stash[STASH];
static unsigned     stashed;

static unsigned hashOf(int which, uint32_t key)
{
    if (which == 0)
        return key * 0x9E3779B1u >> (32 - LOG_SLOTS);
    key ^= key >> 15;
    return key * 0x85EBCA6Bu >> (32 - LOG_SLOTS);
}

// two probes and, rarely, the stash
static struct Entry *lookup(uint32_t key)
{
    for (int w = 0; w < 2; w++) {
        struct Entry *e = &table[w][hashOf(w, key)];
        if (e->key == key)
            return e;
    }
    for (unsigned i = 0; i < stashed; i++)
        if (stash[i].key == key)
            return &stash[i];
    return 0;
}

static bool insert(struct Entry fresh)
{
    struct Entry *old = lookup(fresh.key);
    if (old) {
        old->value = fresh.value;
        return true;
    }

    int which = 0;
    for (int kick = 0; kick < MAX_KICKS; kick++) {
        struct Entry *slot = &table[which][hashOf(which, fresh.key)];
        struct Entry evicted = *slot;
        *slot = fresh;
        if (evicted.key == 0)
            return true;
        fresh = evicted;        // the loser moves to its other nest
        which ^= 1;
    }

    if (stashed == STASH)
        return false;
    stash[stashed++] = fresh;
    return true;
}

// Builds the table and answers the queries with the stored value or -1.
// Returns the number of hits, or -1 - i if entry i found no place.
int cuckoo_run(const uint32_t *key, const int32_t *value, const uint32_t *query, int32_t *answer)
{
    int hits = 0;

    for (int w = 0; w < 2; w++)
        for (int i = 0; i < SLOTS; i++)
            table[w][i].key = 0;
    stashed = 0;

    for (int i = 0; i < ENTRIES; i++) {
        struct Entry e = { key[i], value[i] };
        if (e.key == 0 || !insert(e)) {
            for (int q = 0; q < QUERIES; q++)
                answer[q] = -1;
            return -1 - i;
        }
    }

    for (int q = 0; q < QUERIES; q++) {
        const struct Entry *e = query[q] ? lookup(query[q]) : 0;
        if (e) {
            answer[q] = e->value;
            hits++;
        } else
            answer[q] = -1;
    }
    return hits;
}
