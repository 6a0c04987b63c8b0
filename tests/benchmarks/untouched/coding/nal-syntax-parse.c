#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>

#ifndef LEN
#define LEN 2048
#endif
#ifndef MAXBLK
#define MAXBLK 256
#endif

/* Start codes 00 00 01; 03 after two zeros is stuffing; bodies of units are whitened. */
enum unit { U_PARAMS, U_SLICE, U_INFO, U_FILLER };
enum err { OK, E_SHORT, E_RANGE, E_NOPARAMS, E_CODE, NERR };

struct reader {
    const uint8_t *p, *end;
    unsigned zeros;     /* zero bytes in a row just before p */
    uint16_t lfsr; uint8_t cur;
    int left;           /* bits left in cur */
    bool eof;
};

static unsigned bit(struct reader *r)
{
    if (r->left == 0) {
        if (r->p < r->end && r->zeros >= 2 && *r->p == 3) r->p++, r->zeros = 0;
        r->eof = r->p >= r->end;
        if (r->eof) return 0;
        uint8_t raw = *r->p++, noise = 0;
        r->zeros = raw ? 0 : r->zeros + 1;
        for (int i = 0; i < 8; i++) {
            unsigned fb = ((r->lfsr >> 14) ^ (r->lfsr >> 13)) & 1;
            r->lfsr = (uint16_t)((r->lfsr << 1 | fb) & 0x7fff);
            noise = (uint8_t)(noise << 1 | fb);
        }
        r->cur = raw ^ noise;
        r->left = 8;
    }
    return (r->cur >> --r->left) & 1;
}

static uint32_t bits(struct reader *r, int n)
{
    uint32_t v = 0;
    while (n--) v = v << 1 | bit(r);
    return v;
}

static uint32_t ue(struct reader *r)
{
    int n = 0;
    while (!bit(r))
        if (r->eof || ++n > 15) return UINT32_MAX;
    return (1u << n) - 1 + bits(r, n);
}

static int32_t se(struct reader *r)
{
    uint32_t k = ue(r);
    return k == UINT32_MAX ? INT32_MIN : k & 1 ? (int32_t)((k + 1) / 2) : -(int32_t)(k / 2);
}

static enum err slice(struct reader *r, unsigned total, int32_t (*blk)[4], unsigned *nblk)
{
    uint32_t addr, type;
    int32_t qp, mx = 0, my = 0;
    if (total == 0) return E_NOPARAMS;
    addr = ue(r), type = ue(r), qp = se(r);
    if (r->eof) return E_SHORT;
    if (addr == UINT32_MAX || type == UINT32_MAX || qp == INT32_MIN) return E_CODE;
    if (addr >= total || type > 4 || qp < -26 || qp > 25) return E_RANGE;
    qp += 26;

    while (addr < total && *nblk < MAXBLK) {
        uint32_t run = ue(r), cbp;
        if (run == UINT32_MAX) return r->eof ? OK : E_CODE;     /* end of data ends a slice */
        if (r->eof || run >= total - addr) return OK;
        addr += run;
        if (type != 2) {
            int32_t dx = se(r), dy = se(r);
            if (dx == INT32_MIN || dy == INT32_MIN) return r->eof ? E_SHORT : E_CODE;
            mx = dx + (run ? 0 : mx), my = dy + (run ? 0 : my);
        }
        cbp = bits(r, 4);
        if (cbp) {
            int32_t d = se(r);
            if (d == INT32_MIN) return r->eof ? E_SHORT : E_CODE;
            qp = (int32_t)(((uint32_t)(qp + d) & 0xffff) % 52);
        }
        if (r->eof) return E_SHORT;
        int32_t *b = blk[(*nblk)++];
        *b++ = (int32_t)addr++, *b++ = mx, *b++ = my;
        *b = qp << 4 | (int32_t)cbp;
    }
    return OK;
}

/* counts[0..4]: units per result, counts[5..8]: units per type */
unsigned parse_stream(const uint8_t *data, size_t len, uint16_t key, int32_t (*blk)[4], unsigned counts[9])
{
    const uint8_t *p = data, *const stop = data + len;
    unsigned nblk = 0, total = 0, i;
    for (i = 0; i < 9; i++) counts[i] = 0;
    for (i = 0; i < MAXBLK; i++) blk[i][0] = blk[i][1] = blk[i][2] = blk[i][3] = -1;
    for (;;) {
        /* next start code */
        while (stop - p > 3 && !(p[0] == 0 && p[1] == 0 && p[2] == 1)) p++;
        if (stop - p <= 3) break;
        p += 3;

        const uint8_t *e = p + 1;
        while (stop - e >= 3 && !(e[0] == 0 && e[1] == 0 && e[2] <= 1)) e++;
        if (stop - e < 3) e = stop;

        uint8_t head = *p++;
        struct reader r = { p, e, head == 0, 0, 0, 0, false };
        enum err res = OK;
        uint32_t w, h;

        r.lfsr = (key ^ head ^ 0x5a00) & 0x7fff;
        r.lfsr += r.lfsr == 0;
        switch ((enum unit)(head & 3)) {
        case U_PARAMS:
            w = ue(&r), h = ue(&r);
            if (r.eof) res = E_SHORT;
            else if (w > 63 || h > 63) res = E_RANGE;
            else total = (w + 4) * (h + 4);
            break;
        case U_SLICE:
            res = slice(&r, total, blk, &nblk);
            break;
        case U_INFO:
            do {
                w = 0;
                do { h = bits(&r, 4); w += h; } while (h == 15 && !r.eof);
                while (w-- && !r.eof) bits(&r, 8);
            } while (!r.eof && bit(&r));
            res = r.eof ? E_SHORT : OK;
            break;
        case U_FILLER:
            while (p < e && *p == 0xff) p++;
            if (p < e) res = E_RANGE;
            break;
        }
        counts[res]++, counts[5 + (head & 3)]++;
        p = e;
    }
    return nblk;
}
