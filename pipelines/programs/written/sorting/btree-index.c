#include <stdint.h>
#include <string.h>

#ifndef KEYS
#define KEYS 200
#endif
#ifndef PROBES
#define PROBES 100
#endif
#ifndef ORDER
#define ORDER 3             /* minimum degree */
#endif

#define MAXK (2 * ORDER - 1)

typedef struct bt_page {
    uint8_t  nkeys;
    uint8_t  leaf;
    uint16_t key[MAXK];
    uint16_t kid[MAXK + 1];
} bt_page;

static bt_page  page[KEYS + 8];
static uint16_t npages, root;

static uint16_t bt_alloc(uint8_t leaf)
{
    memset(&page[npages], 0, sizeof(bt_page));
    page[npages].leaf = leaf;
    return npages++;
}

/* kid i of p is full: half of it moves to a new page, the median goes up */
static void bt_split(bt_page *p, int i)
{
    uint16_t rn = bt_alloc(page[p->kid[i]].leaf);
    bt_page *l = &page[p->kid[i]], *r = &page[rn];

    r->nkeys = ORDER - 1;
    memcpy(r->key, l->key + ORDER, (ORDER - 1) * sizeof r->key[0]);
    memcpy(r->kid, l->kid + ORDER, ORDER * sizeof r->kid[0]);
    l->nkeys = ORDER - 1;

    for (int j = p->nkeys; j > i; j--) {
        p->key[j] = p->key[j - 1];
        p->kid[j + 1] = p->kid[j];
    }
    p->key[i] = l->key[ORDER - 1];
    p->kid[i + 1] = rn;
    p->nkeys++;
}

static int bt_insert(uint16_t k)
{
    if (page[root].nkeys == MAXK) {
        uint16_t nr = bt_alloc(0);
        page[nr].kid[0] = root;
        root = nr;
        bt_split(&page[nr], 0);
    }
    bt_page *p = &page[root];
    for (;;) {
        int i = 0;
        while (i < p->nkeys && p->key[i] < k) i++;
        if (i < p->nkeys && p->key[i] == k)
            return 0;
        if (p->leaf) {
            for (int j = p->nkeys; j > i; j--) p->key[j] = p->key[j - 1];
            p->key[i] = k;
            p->nkeys++;
            return 1;
        }
        if (page[p->kid[i]].nkeys == MAXK) {
            bt_split(p, i);
            if (p->key[i] == k) return 0;
            if (p->key[i] < k) i++;
        }
        p = &page[p->kid[i]];
    }
}

/* least key >= k, or -1; *pages counts what was touched */
static int32_t bt_ceil(uint16_t k, unsigned *pages)
{
    const bt_page *p = &page[root];
    int32_t best = -1;
    for (;;) {
        int i = 0;
        ++*pages;
        while (i < p->nkeys && p->key[i] < k) i++;
        if (i < p->nkeys) best = p->key[i];
        if (best == k || p->leaf) return best;
        p = &page[p->kid[i]];
    }
}

unsigned bt_run(const uint16_t *keys, const uint16_t *probe, int32_t *ceil_key, uint16_t *stats)
{
    unsigned touched = 0, stored = 0;
    npages = 0;
    root = bt_alloc(1);
    for (int i = 0; i < KEYS; i++) stored += (unsigned)bt_insert(keys[i]);
    for (int i = 0; i < PROBES; i++) ceil_key[i] = bt_ceil(probe[i], &touched);
    stats[0] = npages;
    stats[1] = (uint16_t)stored;
    return touched;
}
