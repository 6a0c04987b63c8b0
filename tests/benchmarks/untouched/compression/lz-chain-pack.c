#include <string.h>

#ifndef N
#define N 600
#endif
#ifndef HASH_BITS
#define HASH_BITS 8
#endif
#ifndef DEPTH
#define DEPTH 6
#endif

#define MIN_MATCH 4
#define MAX_DIST  4096
#define NIL       (-1)

/* chains: newest position per hash, older ones linked through older[] */
static int newest[1 << HASH_BITS];
static int older[N];

static unsigned hash4(const unsigned char *p)
{
    unsigned v = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
    return v * 2654435761u >> (32 - HASH_BITS);
}

static void remember(const unsigned char *src, int pos)
{
    if (pos + MIN_MATCH <= N) {
        unsigned h = hash4(src + pos);
        older[pos] = newest[h];
        newest[h] = pos;
    }
}

/* longest match for pos among the last DEPTH candidates, 0 if none is worth it */
static int search(const unsigned char *src, int pos, int *dist)
{
    int best = 0, budget = DEPTH;

    if (pos + MIN_MATCH > N)
        return 0;
    for (int cand = newest[hash4(src + pos)]; cand != NIL && budget-- > 0; cand = older[cand]) {
        int len = 0, room = N - pos;
        if (pos - cand > MAX_DIST)
            break;
        if (best && (pos + best >= N || src[cand + best] != src[pos + best]))
            continue;
        while (len < room && src[cand + len] == src[pos + len])
            len++;
        if (len >= MIN_MATCH && len > best) {
            best = len;
            *dist = pos - cand;
        }
    }
    return best;
}

static unsigned char *put_length(unsigned char *q, int rest)
{
    for (; rest >= 255; rest -= 255)
        *q++ = 255;
    *q++ = (unsigned char)rest;
    return q;
}

static unsigned char *put_sequence(unsigned char *q, const unsigned char *lit, int nlit, int len, int dist)
{
    unsigned char *token = q++;
    int m = len ? len - MIN_MATCH : 0;

    *token = (unsigned char)((nlit < 15 ? nlit : 15) << 4 | (m < 15 ? m : 15));
    if (nlit >= 15)
        q = put_length(q, nlit - 15);
    memcpy(q, lit, (size_t)nlit);
    q += nlit;
    if (len) {
        *q++ = dist & 0xff;
        *q++ = (unsigned char)(dist >> 8);
        if (m >= 15)
            q = put_length(q, m - 15);
    }
    return q;
}

/* Packs N bytes into dst (room for 2 * N + 16), returns the packed size.
 * Byte-aligned sequences: token, literals, distance; lazy by one position. */
long lz_chain_pack(const unsigned char *src, unsigned char *dst)
{
    unsigned char *q = dst;
    int pos = 0, anchor = 0;

    for (int h = 0; h < 1 << HASH_BITS; h++)
        newest[h] = NIL;

    while (pos < N) {
        int dist = 0, dist2 = 0, len2;
        int len = search(src, pos, &dist);

        remember(src, pos);
        if (!len) {
            pos++;
            continue;
        }
        if ((len2 = search(src, pos + 1, &dist2)) > len + 1) {
            remember(src, ++pos);
            len = len2;
            dist = dist2;
        }
        q = put_sequence(q, src + anchor, pos - anchor, len, dist);
        for (int stop = pos + len; ++pos < stop; )
            remember(src, pos);
        anchor = pos;
    }
    if (anchor < N)
        q = put_sequence(q, src + anchor, N - anchor, 0, 0);
    return (long)(q - dst);
}
