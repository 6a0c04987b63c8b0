// Keyed hash (SipHash-2-4) of variable-length records kept at a fixed pitch.
// Also counts how the records fall into buckets; returns the fullest bucket.

typedef unsigned long long u64;
typedef unsigned char u8;

#ifndef RECORDS
#define RECORDS 24
#endif
#ifndef PITCH
#define PITCH 40
#endif
#ifndef BUCKETS
#define BUCKETS 16
#endif

#define ROL(x, b) ((x) << (b) | (x) >> (64 - (b)))
#define SIPROUND                                                          \
    do {                                                                  \
        v0 += v1; v1 = ROL(v1, 13); v1 ^= v0; v0 = ROL(v0, 32);           \
        v2 += v3; v3 = ROL(v3, 16); v3 ^= v2;                             \
        v0 += v3; v3 = ROL(v3, 21); v3 ^= v0;                             \
        v2 += v1; v1 = ROL(v1, 17); v1 ^= v2; v2 = ROL(v2, 32);           \
    } while (0)

static u64 siphash(const u8 *p, unsigned n, u64 k0, u64 k1)
{
    u64 v0 = k0 ^ 0x736f6d6570736575ULL;
    u64 v1 = k1 ^ 0x646f72616e646f6dULL;
    u64 v2 = k0 ^ 0x6c7967656e657261ULL;
    u64 v3 = k1 ^ 0x7465646279746573ULL;
    u64 last = (u64)n << 56;
    const u8 *stop = p + (n & ~7u);

    for (; p != stop; p += 8) {
        u64 m = 0;
        for (int i = 7; i >= 0; i--)
            m = m << 8 | p[i];
        v3 ^= m;
        SIPROUND;
        SIPROUND;
        v0 ^= m;
    }
    switch (n & 7) {
    case 7: last |= (u64)p[6] << 48;   /* fall through */
    case 6: last |= (u64)p[5] << 40;   /* fall through */
    case 5: last |= (u64)p[4] << 32;   /* fall through */
    case 4: last |= (u64)p[3] << 24;   /* fall through */
    case 3: last |= (u64)p[2] << 16;   /* fall through */
    case 2: last |= (u64)p[1] << 8;    /* fall through */
    case 1: last |= (u64)p[0];         /* fall through */
    case 0: break;
    }
    v3 ^= last;
    SIPROUND;
    SIPROUND;
    v0 ^= last;
    v2 ^= 0xff;
    SIPROUND;
    SIPROUND;
    SIPROUND;
    SIPROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}

unsigned siphash_records(const u8 *data, const unsigned short *len, const u64 key[2],
                         u64 *hash, unsigned *bucket)
{
    unsigned b, r, worst = 0;

    for (b = 0; b < BUCKETS; b++)
        bucket[b] = 0;
    for (r = 0; r < RECORDS; r++) {
        hash[r] = siphash(data + r * PITCH, len[r], key[0], key[1]);
        b = (unsigned)(hash[r] % BUCKETS);
        if (++bucket[b] > worst)
            worst = bucket[b];
    }
    return worst;
}
