/* cuckoo hashing with two tables and a small stash, keys must not be 0 */

#ifndef NKEYS
#define NKEYS 110
#endif
#ifndef SLOTS            /* per table, any number */
#define SLOTS 128
#endif
#ifndef NQUERIES
#define NQUERIES 150
#endif

#define MAX_KICKS 16
#define STASH     4

static unsigned place(unsigned key, int which)
{
    if (which)
        key = (key ^ key >> 15) * 0x2c1b3c6du;
    key *= 0x9e3779b1u;
    return (unsigned)((unsigned long long)key * SLOTS >> 32);
}

static int lookup(unsigned table[2][SLOTS], const unsigned *stash, int nstash, unsigned key)
{
    if (table[0][place(key, 0)] == key) return 1;
    if (table[1][place(key, 1)] == key) return 2;
    while (nstash-- > 0)
        if (stash[nstash] == key) return 3;
    return 0;
}

/* where[q] tells in which part query q was found (0: nowhere).
   Returns the number of distinct keys stored, negative if the table overflowed. */
int cuckoo_table(const unsigned keys[NKEYS], const unsigned queries[NQUERIES],
                 unsigned table[2][SLOTS], unsigned char where[NQUERIES], int *kicks)
{
    unsigned stash[STASH];
    int nstash = 0, stored = 0, i;

    *kicks = 0;
    for (unsigned s = 0; s < SLOTS; s++)
        table[0][s] = table[1][s] = 0;
    for (i = 0; i < NQUERIES; i++)
        where[i] = 0;

    for (i = 0; i < NKEYS; i++) {
        unsigned homeless = keys[i];
        int side = 0, tries = 0;

        if (lookup(table, stash, nstash, homeless))
            continue;
        do {
            unsigned *slot = &table[side][place(homeless, side)];
            unsigned evicted = *slot;
            *slot = homeless;
            homeless = evicted;
            side ^= 1;
        } while (homeless && ++tries < MAX_KICKS);
        *kicks += tries;
        if (homeless) {
            if (nstash == STASH)
                goto overflow;
            stash[nstash++] = homeless;
        }
        stored++;
    }

    for (i = 0; i < NQUERIES; i++)
        where[i] = (unsigned char)lookup(table, stash, nstash, queries[i]);
    return stored;

overflow:
    return -1 - stored;
}
