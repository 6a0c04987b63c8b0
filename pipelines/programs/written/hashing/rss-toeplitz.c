#include <stdint.h>
#ifndef PKTS
#define PKTS 40
#endif
#define TUPLE 12   /* src ip, dst ip, src port, dst port: network order */
#define KEYLEN 40

/* window of the key that lies over the current input bit */
struct keyreg { uint32_t hi; const uint8_t *next; unsigned left; uint8_t cur; };

static void key_start(struct keyreg *k, const uint8_t *key)
{
        k->hi = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
        k->next = key + 4;
        k->left = 0;
        k->cur = 0;
}

static void key_shift(struct keyreg *k)
{
        if (k->left == 0) {
                k->cur = *k->next++;
                k->left = 8;
        }
        k->hi = (k->hi << 1) | (k->cur >> 7);
        k->cur = (uint8_t)(k->cur << 1);
        k->left--;
}

static uint32_t toeplitz(const uint8_t *in, int n, const uint8_t *key)
{
        struct keyreg k;
        uint32_t acc = 0;

        key_start(&k, key);
        while (n-- > 0) {
                uint8_t b = *in++;
                unsigned m;
                for (m = 0x80; m; m >>= 1) {
                        if (b & m)
                                acc ^= k.hi;
                        key_shift(&k);
                }
        }
        return acc;
}

/*
 * Receive side scaling. Non-TCP/UDP packets are hashed over the addresses only
 * (8 bytes), everything else over the 4-tuple. indir is the indirection table.
 */
void rss_classify(const uint8_t (*tuple)[TUPLE], const uint8_t *l4, const uint8_t *rsskey,
                  const uint8_t *indir, uint32_t *hash, uint8_t *cpu, uint32_t *histogram)
{
        for (int c = 0; c < 8; c++)
                histogram[c] = 0;
        for (int p = 0; p < PKTS; p++) {
                int n = 8;
                switch (l4[p]) {
                case 6:
                case 17:
                        n = TUPLE;
                        break;
                case 1:
                        hash[p] = 0;
                        cpu[p] = 0;
                        histogram[0]++;
                        continue;
                default:
                        break;
                }
                hash[p] = toeplitz(tuple[p], n, rsskey);
                cpu[p] = indir[hash[p] & 127] & 7;
                histogram[cpu[p]]++;
        }
}
