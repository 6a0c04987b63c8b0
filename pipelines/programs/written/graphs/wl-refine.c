#include <stdint.h>
#ifndef ATOMS
#define ATOMS 40
#endif
#ifndef BONDS
#define BONDS 60
#endif
#ifndef DEPTH
#define DEPTH 4
#endif

/* Circular fingerprint of a molecule-like graph (Weisfeiler-Lehman refinement).
   Invariants are hashed with those of sorted neighbours; each hash sets a bit. */
struct Bond { uint8_t a, b, order; };

static inline uint32_t Mix(uint32_t h, uint32_t v)
{
    h ^= v * 0xCC9E2D51u;
    h = (h << 13) | (h >> 19);
    return h * 5u + 0xE6546B64u;
}

static void SortPairs(uint32_t *v, int n)
{
    for (int i = 1; i < n; i++) {
        uint32_t x = v[i];
        int j = i;
        while (j > 0 && v[j - 1] > x) { v[j] = v[j - 1]; j--; }
        v[j] = x;
    }
}

unsigned Fingerprint(const uint8_t *element, const uint8_t *bondA, const uint8_t *bondB,
                     const uint8_t *bondOrder, uint32_t bits[32])
{
    struct Bond bond[BONDS];
    uint32_t id[ATOMS], next[ATOMS], near[BONDS * 2];
    unsigned distinct = 0;

    for (int i = 0; i < BONDS; i++) {
        bond[i].a = bondA[i];
        bond[i].b = bondB[i];
        bond[i].order = (uint8_t)(1 + bondOrder[i] % 3);
    }
    for (int i = 0; i < 32; i++) bits[i] = 0;
    for (int i = 0; i < ATOMS; i++) id[i] = Mix(0x1234567u, element[i]);

    for (int d = 0; d <= DEPTH; d++) {
        for (int i = 0; i < ATOMS; i++) {
            uint32_t b = id[i] & 1023u;
            if (!(bits[b >> 5] >> (b & 31) & 1u)) distinct++;
            bits[b >> 5] |= 1u << (b & 31);
        }
        if (d == DEPTH) break;
        for (int i = 0; i < ATOMS; i++) {
            int n = 0;
            for (int k = 0; k < BONDS; k++) {
                if (bond[k].a == i)      near[n++] = Mix(bond[k].order, id[bond[k].b]);
                else if (bond[k].b == i) near[n++] = Mix(bond[k].order, id[bond[k].a]);
            }
            SortPairs(near, n);
            uint32_t h = Mix((uint32_t)d + 1u, id[i]);
            for (int k = 0; k < n; k++) h = Mix(h, near[k]);
            next[i] = h ^ h >> 16;
        }
        for (int i = 0; i < ATOMS; i++) id[i] = next[i];
    }
    return distinct;
}
