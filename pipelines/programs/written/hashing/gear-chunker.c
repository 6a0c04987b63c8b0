/* gear_chunker - content defined chunking, for the dedup store */
#include <stdint.h>
#ifndef LEN
#define LEN 2048
#endif
#ifndef MINCH
#define MINCH 32
#endif
#ifndef MAXCH
#define MAXCH 256
#endif

struct chunk { uint32_t off; uint32_t len; uint32_t fp; };

static uint32_t s_gear[256];

static void gear_init(uint32_t seed) {
    uint32_t *g = s_gear;
    do {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        *g++ = seed;
    } while (g != s_gear + 256);
}

/* FNV-1a over a chunk, the finger print under which it is filed */
static uint32_t fp32(const uint8_t *p, const uint8_t *e) {
    uint32_t h = 2166136261u;
    while (p < e) { h ^= *p++; h *= 16777619u; }
    return h;
}

/* cut `data` into chunks, return their number (never above LEN/MINCH + 1) */
int gear_split(const uint8_t *data, struct chunk *out, uint32_t seed) {
    const uint8_t *p = data, *end = data + LEN;
    int n = 0;
    gear_init(seed | 1u);
    while (p < end) {
        const uint8_t *start = p;
        const uint8_t *lim = (end - p > MAXCH) ? p + MAXCH : end;
        uint32_t h = 0;
        if (end - p > MINCH)
            p += MINCH;
        else
            p = end;
        while (p < lim) {
            h = (h << 1) + s_gear[*p++];
            if (!(h & 0xfc000000u))      /* six zero bits: mean 64 after the minimum */
                break;
        }
        out[n].off = (uint32_t)(start - data);
        out[n].len = (uint32_t)(p - start);
        out[n].fp = fp32(start, p);
        n++;
    }
    return n;
}
