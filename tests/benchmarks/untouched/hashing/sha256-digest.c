/*
 * SHA-256 of one message (FIPS 180-4).
 *
 * The block engine keeps its own 64 byte buffer, so a caller could also feed
 * the message in pieces; the top function feeds it at once and finishes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef MSG_MAX
#define MSG_MAX 300
#endif

struct sha256 {
    uint32_t h[8];
    uint8_t  block[64];
    size_t   used;
    uint64_t bytes;
};

static const uint32_t round_key[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotr(uint32_t v, unsigned n)
{
    return (v >> n) | (v << (32 - n));
}

static void digest_block(struct sha256 *s)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++) {
        const uint8_t *p = s->block + 4 * t;
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }

    uint32_t a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3];
    uint32_t e = s->h[4], f = s->h[5], g = s->h[6], h = s->h[7];
    for (int t = 0; t < 64; t++) {
        uint32_t choose = (e & f) ^ (~e & g);
        uint32_t major = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + choose + round_key[t] + w[t];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + major;
        h = g; g = f; f = e; e = d + t1;
        d = c; c = b; b = a; a = t1 + t2;
    }
    s->h[0] += a; s->h[1] += b; s->h[2] += c; s->h[3] += d;
    s->h[4] += e; s->h[5] += f; s->h[6] += g; s->h[7] += h;
}

static void feed(struct sha256 *s, const uint8_t *data, size_t n)
{
    s->bytes += n;
    while (n > 0) {
        size_t take = 64 - s->used;
        if (take > n)
            take = n;
        memcpy(s->block + s->used, data, take);
        s->used += take;
        data += take;
        n -= take;
        if (s->used == 64) {
            digest_block(s);
            s->used = 0;
        }
    }
}

void sha256_digest(const uint8_t *msg, size_t len, uint8_t digest[32])
{
    static const uint8_t pad[64] = { 0x80 };
    struct sha256 s = { { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }, { 0 }, 0, 0 };
    uint8_t tail[8];

    if (len > MSG_MAX)
        len = MSG_MAX;
    feed(&s, msg, len);
    uint64_t bits = 8 * s.bytes;
    feed(&s, pad, s.used < 56 ? 56 - s.used : 120 - s.used);
    for (int i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    feed(&s, tail, 8);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(s.h[i / 4] >> (24 - 8 * (i % 4)));
}

int main(void)
{
    uint8_t d[32];
    sha256_digest((const uint8_t *)"abc", 3, d);
    for (int i = 0; i < 32; i++)
        printf("%02x", d[i]);
    puts("");    /* ba7816bf ... f20015ad */
    return 0;
}
