#include <stdint.h>
#include <string.h>

#ifndef MSGLEN
#define MSGLEN 512
#endif

typedef struct poly_ctx {
    uint32_t r[5];
    uint32_t h[5];
    uint32_t pad[4];
} poly_ctx;

static uint32_t le32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void poly_init(poly_ctx *c, const unsigned char key[32])
{
    c->r[0] = (le32(key + 0)) & 0x3ffffff;
    c->r[1] = (le32(key + 3) >> 2) & 0x3ffff03;
    c->r[2] = (le32(key + 6) >> 4) & 0x3ffc0ff;
    c->r[3] = (le32(key + 9) >> 6) & 0x3f03fff;
    c->r[4] = (le32(key + 12) >> 8) & 0x00fffff;
    memset(c->h, 0, sizeof c->h);
    for (int i = 0; i < 4; i++)
        c->pad[i] = le32(key + 16 + 4 * i);
}

static void poly_block(poly_ctx *c, const unsigned char *m, uint32_t hibit)
{
    const uint32_t r0 = c->r[0], r1 = c->r[1], r2 = c->r[2], r3 = c->r[3], r4 = c->r[4];
    const uint32_t s1 = r1 * 5, s2 = r2 * 5, s3 = r3 * 5, s4 = r4 * 5;
    uint32_t h0 = c->h[0], h1 = c->h[1], h2 = c->h[2], h3 = c->h[3], h4 = c->h[4];
    uint64_t d0, d1, d2, d3, d4;
    uint32_t cy;

    h0 += (le32(m + 0)) & 0x3ffffff;
    h1 += (le32(m + 3) >> 2) & 0x3ffffff;
    h2 += (le32(m + 6) >> 4) & 0x3ffffff;
    h3 += (le32(m + 9) >> 6) & 0x3ffffff;
    h4 += (le32(m + 12) >> 8) | hibit;

    d0 = (uint64_t)h0 * r0 + (uint64_t)h1 * s4 + (uint64_t)h2 * s3 + (uint64_t)h3 * s2 + (uint64_t)h4 * s1;
    d1 = (uint64_t)h0 * r1 + (uint64_t)h1 * r0 + (uint64_t)h2 * s4 + (uint64_t)h3 * s3 + (uint64_t)h4 * s2;
    d2 = (uint64_t)h0 * r2 + (uint64_t)h1 * r1 + (uint64_t)h2 * r0 + (uint64_t)h3 * s4 + (uint64_t)h4 * s3;
    d3 = (uint64_t)h0 * r3 + (uint64_t)h1 * r2 + (uint64_t)h2 * r1 + (uint64_t)h3 * r0 + (uint64_t)h4 * s4;
    d4 = (uint64_t)h0 * r4 + (uint64_t)h1 * r3 + (uint64_t)h2 * r2 + (uint64_t)h3 * r1 + (uint64_t)h4 * r0;

    cy = (uint32_t)(d0 >> 26); h0 = (uint32_t)d0 & 0x3ffffff; d1 += cy;
    cy = (uint32_t)(d1 >> 26); h1 = (uint32_t)d1 & 0x3ffffff; d2 += cy;
    cy = (uint32_t)(d2 >> 26); h2 = (uint32_t)d2 & 0x3ffffff; d3 += cy;
    cy = (uint32_t)(d3 >> 26); h3 = (uint32_t)d3 & 0x3ffffff; d4 += cy;
    cy = (uint32_t)(d4 >> 26); h4 = (uint32_t)d4 & 0x3ffffff;
    h0 += cy * 5;
    cy = h0 >> 26; h0 &= 0x3ffffff; h1 += cy;

    c->h[0] = h0; c->h[1] = h1; c->h[2] = h2; c->h[3] = h3; c->h[4] = h4;
}

static void poly_finish(poly_ctx *c, unsigned char tag[16])
{
    uint32_t g[5], carry, mask, w[4];
    uint64_t f = 0;
    int i, pass;

    for (pass = 0, carry = 0; pass < 2; pass++) {
        for (i = 0; i < 5; i++) {
            c->h[i] += carry;
            carry = c->h[i] >> 26;
            c->h[i] &= 0x3ffffff;
        }
        carry *= 5;
    }
    c->h[0] += carry;
    /* h + 5 - 2^130: is h >= p ? */
    carry = 5;
    for (i = 0; i < 5; i++) {
        g[i] = c->h[i] + carry;
        carry = g[i] >> 26;
        g[i] &= 0x3ffffff;
    }
    mask = 0u - carry;
    for (i = 0; i < 5; i++)
        c->h[i] = (c->h[i] & ~mask) | (g[i] & mask);
    w[0] = c->h[0] | c->h[1] << 26;
    w[1] = c->h[1] >> 6 | c->h[2] << 20;
    w[2] = c->h[2] >> 12 | c->h[3] << 14;
    w[3] = c->h[3] >> 18 | c->h[4] << 8;
    for (i = 0; i < 4; i++) {
        f += (uint64_t)w[i] + c->pad[i];
        tag[4 * i + 0] = (unsigned char)(f);
        tag[4 * i + 1] = (unsigned char)(f >> 8);
        tag[4 * i + 2] = (unsigned char)(f >> 16);
        tag[4 * i + 3] = (unsigned char)(f >> 24);
        f >>= 32;
    }
}

/* one-shot MAC; len may be shorter than the buffer */
void onetime_mac(unsigned char *tag, const unsigned char *msg, unsigned len, const unsigned char *key)
{
    poly_ctx c;
    unsigned char last[16];

    if (len > MSGLEN)
        len = MSGLEN;
    poly_init(&c, key);
    for (; len >= 16; len -= 16, msg += 16)
        poly_block(&c, msg, 1u << 24);
    if (len) {
        memset(last, 0, sizeof last);
        memcpy(last, msg, len);
        last[len] = 1;
        poly_block(&c, last, 0);
    }
    poly_finish(&c, tag);
}
