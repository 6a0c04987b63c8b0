/* Inserts keys in a table with linear probing, then counts the hits of queries. */
#include <stdint.h>

#define SLOTS 64

int open_address_lookup(const uint16_t keys[32], const uint16_t queries[32])
{
    uint16_t table[SLOTS];
    int hits = 0;

    for (int i = 0; i < SLOTS; i++)
        table[i] = 0;
    for (int i = 0; i < 32; i++) {
        uint16_t k = keys[i] | 1;
        unsigned at = (k * 40503u >> 10) % SLOTS;
        while (table[at] != 0 && table[at] != k)
            at = (at + 1) % SLOTS;
        table[at] = k;
    }
    for (int i = 0; i < 32; i++) {
        uint16_t q = queries[i] | 1;
        unsigned at = (q * 40503u >> 10) % SLOTS;
        while (table[at] != 0) {
            if (table[at] == q) {
                hits++;
                break;
            }
            at = (at + 1) % SLOTS;
        }
    }
    return hits;
}
