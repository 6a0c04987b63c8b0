#include <stdint.h>
#include <string.h>

#ifndef CELLS
#define CELLS 24
#endif
#define CELL 48                 /* short transport cells: 4 byte header + 44 */
#define SECTION_MAX 128

/* Collects sections of one channel id out of a cell stream.
   header: sync | start flag, error flag, id (13) | adaptation (2), continuity (4)
   The cells are first stamped from plain arrays (ids, flags), the payload bytes are given. */

enum state { HUNT, HEAD, BODY };

struct demux {
    enum state st;
    uint8_t  sec[SECTION_MAX];
    unsigned have, need;
    uint8_t  cc;
    int      synced;
    unsigned lost, done, bad;
    uint32_t digest;
};

static uint32_t crc32_mpeg(const uint8_t *p, unsigned n)
{
    uint32_t c = 0xffffffffu;
    while (n--) {
        c ^= (uint32_t)*p++ << 24;
        for (int k = 0; k < 8; k++)
            c = c & 0x80000000u ? c << 1 ^ 0x04c11db7u : c << 1;
    }
    return c;
}

static void feed(struct demux *d, const uint8_t *p, unsigned n)
{
    while (n) {
        switch (d->st) {
        case HUNT:
            return;
        case HEAD:
            if (d->have == 0 && *p == 0xff) { d->st = HUNT; return; }     /* stuffing until the next start */
            d->sec[d->have++] = *p++;
            n--;
            if (d->have == 2) {
                d->need = 2 + (d->sec[1] & 63) + 4;
                d->st = BODY;
            }
            break;
        case BODY: {
            unsigned k = d->need - d->have < n ? d->need - d->have : n;
            memcpy(d->sec + d->have, p, k);
            d->have += k;
            p += k;
            n -= k;
            if (d->have == d->need) {
                uint32_t c = crc32_mpeg(d->sec, d->need);
                d->done++;
                d->bad += c != 0;
                d->digest = d->digest * 31 + c;
                d->have = 0;
                d->st = HEAD;
            }
            break;
        }
        }
    }
}

unsigned ts_demux(uint8_t *cells, const uint8_t *ids, const uint8_t *flags, unsigned wanted, uint32_t summary[4])
{
    struct demux d = { .st = HUNT };
    uint8_t cc[16] = {0};

    for (int i = 0; i < CELLS; i++) {
        uint8_t *h = cells + i * CELL;
        unsigned id = ids[i] & 3;
        h[0] = flags[i] >= 250 ? 0x46 : 0x47;
        h[1] = (uint8_t)((flags[i] & 1) << 6 | (flags[i] % 23 == 0) << 7);
        h[2] = (uint8_t)id;
        h[3] = (uint8_t)(0x10 | (flags[i] % 5 == 0) << 5 | cc[id]);
        cc[id] = (uint8_t)((cc[id] + 1 + (flags[i] % 17 == 0)) & 15);      /* now and then a gap */
    }

    for (const uint8_t *h = cells; h < cells + CELLS * CELL; h += CELL) {
        if (h[0] != 0x47) { d.lost++; d.synced = 0; continue; }
        if (h[1] & 0x80) { d.bad++; continue; }
        if ((((unsigned)h[1] & 31) << 8 | h[2]) != wanted) continue;

        if (d.synced && (h[3] & 15) != ((d.cc + 1) & 15)) {
            d.lost++;
            d.st = HUNT;
            d.have = 0;
        }
        d.cc = h[3] & 15;
        d.synced = 1;

        const uint8_t *p = h + 4, *end = h + CELL;
        if (h[3] & 0x20) {
            unsigned skip = 1 + (*p & 31);
            p += skip;
        }
        if (h[1] & 0x40) {
            unsigned ptr = *p++ & 7;
            if (p + ptr > end) { d.bad++; continue; }
            if (d.st == BODY) feed(&d, p, ptr);
            p += ptr;
            d.st = HEAD;
            d.have = 0;
        }
        if (p < end) feed(&d, p, (unsigned)(end - p));
    }
    summary[0] = d.done;
    summary[1] = d.bad;
    summary[2] = d.lost;
    summary[3] = d.digest;
    return d.done;
}
