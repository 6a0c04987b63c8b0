#include <stdint.h>
#include <stddef.h>

#ifndef DATA
#define DATA 4096
#endif
#ifndef MINSZ
#define MINSZ 32
#endif
#ifndef MAXSZ
#define MAXSZ 256
#endif

#define MASK_HARD 0xFE00000000000000ull     /* before the wanted size */
#define MASK_EASY 0xF000000000000000ull     /* behind it */
#define WANTED    96

static uint64_t gear[256];

static void gear_setup(uint64_t seed)
{
    for (int i = 0; i < 256; i++) {
        seed += 0x9E3779B97F4A7C15ull;
        uint64_t z = seed;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        gear[i] = z ^ z >> 31;
    }
}

static size_t cut_point(const uint8_t *p, size_t left, uint64_t *hash)
{
    uint64_t h = 0;
    size_t i = MINSZ;

    if (left <= MINSZ) { *hash = h; return left; }
    if (left > MAXSZ) left = MAXSZ;
    size_t middle = left < WANTED ? left : WANTED;
    for (; i < middle; i++) {
        h = (h << 1) + gear[p[i]];
        if (!(h & MASK_HARD)) goto cut;
    }
    for (; i < left; i++) {
        h = (h << 1) + gear[p[i]];
        if (!(h & MASK_EASY)) goto cut;
    }
cut:
    *hash = h;
    return i;
}

/* content-defined chunking; start offsets and a 64-bit FNV of each chunk */
size_t chunk_stream(const uint8_t *data, uint64_t seed, uint32_t *offset, uint64_t *digest)
{
    size_t n = 0;
    const uint8_t *p = data, *end = data + DATA;
    gear_setup(seed);
    while (p < end) {
        uint64_t h, f = 0xCBF29CE484222325ull;
        size_t len = cut_point(p, (size_t)(end - p), &h);
        offset[n] = (uint32_t)(p - data);
        for (const uint8_t *q = p; q < p + len; q++) f = (f ^ *q) * 0x100000001B3ull;
        digest[n++] = f ^ h;
        p += len;
    }
    return n;
}
