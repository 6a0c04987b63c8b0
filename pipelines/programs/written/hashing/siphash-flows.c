#include <stdint.h>

#ifndef NFLOWS
#define NFLOWS 64
#endif

/* one record of the flow table, as the parser leaves it */
typedef struct {
    uint32_t saddr, daddr;
    uint16_t sport, dport;
    uint8_t  proto;
} flow_key_t;

#define ROTL64(x, b) (((x) << (b)) | ((x) >> (64 - (b))))

#define SIPROUND(v0, v1, v2, v3)                                   \
    do {                                                           \
        v0 += v1; v1 = ROTL64(v1, 13); v1 ^= v0; v0 = ROTL64(v0, 32); \
        v2 += v3; v3 = ROTL64(v3, 16); v3 ^= v2;                   \
        v0 += v3; v3 = ROTL64(v3, 21); v3 ^= v0;                   \
        v2 += v1; v1 = ROTL64(v1, 17); v1 ^= v2; v2 = ROTL64(v2, 32); \
    } while (0)

static uint64_t sip13_flow(const flow_key_t *f, uint64_t k0, uint64_t k1)
{
    uint64_t v0 = k0 ^ 0x736f6d6570736575ULL;
    uint64_t v1 = k1 ^ 0x646f72616e646f6dULL;
    uint64_t v2 = k0 ^ 0x6c7967656e657261ULL;
    uint64_t v3 = k1 ^ 0x7465646279746573ULL;
    uint64_t m[2];
    int i;

    m[0] = ((uint64_t)f->saddr << 32) | f->daddr;
    /* last word carries the length (13) in its top byte */
    m[1] = (13ULL << 56) | ((uint64_t)f->proto << 32)
         | ((uint64_t)f->sport << 16) | f->dport;

    for (i = 0; i < 2; i++) {
        v3 ^= m[i];
        SIPROUND(v0, v1, v2, v3);
        v0 ^= m[i];
    }
    v2 ^= 0xff;
    SIPROUND(v0, v1, v2, v3);
    SIPROUND(v0, v1, v2, v3);
    SIPROUND(v0, v1, v2, v3);
    return v0 ^ v1 ^ v2 ^ v3;
}

/* Spread NFLOWS packets over 16 queues; returns the load of the fullest one. */
int flow_steer(const uint32_t addr[2 * NFLOWS], const uint16_t ports[2 * NFLOWS],
               const uint8_t proto[NFLOWS], const uint64_t key[2],
               uint8_t queue[NFLOWS])
{
    int load[16] = { 0 };
    int worst = 0;

    for (int i = 0; i < NFLOWS; i++) {
        flow_key_t f = { addr[2 * i], addr[2 * i + 1],
                         ports[2 * i], ports[2 * i + 1], proto[i] };
        uint64_t h = sip13_flow(&f, key[0], key[1]);
        uint8_t q = (uint8_t)((h ^ (h >> 32)) & 15u);
        queue[i] = q;
        if (++load[q] > worst)
            worst = load[q];
    }
    return worst;
}
