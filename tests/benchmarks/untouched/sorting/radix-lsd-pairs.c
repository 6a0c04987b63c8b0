#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 256
#endif

#define RADIX_BITS 8
#define BUCKETS    (1 << RADIX_BITS)
#define PASSES     (32 / RADIX_BITS)

/* Sorts signed keys with a 16 bit payload, stable, least significant byte
 * first. A pass whose byte is the same everywhere is left out. The result is
 * always in key/payload; the spare arrays are only work space.
 * Returns the number of passes that moved data. */
int radix_sort_pairs(int32_t *key, uint16_t *payload, int32_t *spare_key, uint16_t *spare_payload)
{
    static size_t count[PASSES][BUCKETS];
    int32_t  *from_k = key,     *to_k = spare_key;
    uint16_t *from_p = payload, *to_p = spare_payload;
    int moved = 0;

    for (int p = 0; p < PASSES; p++)
        for (int b = 0; b < BUCKETS; b++)
            count[p][b] = 0;

    /* all histograms in one go; flipping the sign bit orders negatives first */
    for (size_t i = 0; i < N; i++) {
        uint32_t u = (uint32_t)key[i] ^ 0x80000000u;
        for (int p = 0; p < PASSES; p++, u >>= RADIX_BITS)
            count[p][u & (BUCKETS - 1)]++;
    }

    for (int p = 0; p < PASSES; p++) {
        const int shift = p * RADIX_BITS;
        const uint32_t first = ((uint32_t)from_k[0] ^ 0x80000000u) >> shift & (BUCKETS - 1);
        if (count[p][first] == N)
            continue;

        size_t start = 0;
        for (int b = 0; b < BUCKETS; b++) {
            const size_t c = count[p][b];
            count[p][b] = start;
            start += c;
        }
        for (size_t i = 0; i < N; i++) {
            const uint32_t u = (uint32_t)from_k[i] ^ 0x80000000u;
            const size_t at = count[p][u >> shift & (BUCKETS - 1)]++;
            to_k[at] = from_k[i];
            to_p[at] = from_p[i];
        }

        int32_t *tk = from_k; from_k = to_k; to_k = tk;
        uint16_t *tp = from_p; from_p = to_p; to_p = tp;
        moved++;
    }

    if (from_k != key)
        for (size_t i = 0; i < N; i++) {
            key[i] = from_k[i];
            payload[i] = from_p[i];
        }
    return moved;
}
