#include <stdint.h>

#ifndef SW
#define SW 32
#endif
#ifndef SH
#define SH 32
#endif
#ifndef DW
#define DW 40
#endif
#ifndef DH
#define DH 40
#endif

typedef int32_t q16;

typedef struct Affine {
    q16 a, b, c;    /* u = a x + b y + c */
    q16 d, e, f;
} Affine;

/* texel fetch with wrap in x and clamp in y (panorama) */
static inline uint32_t texel(const uint32_t *s, int u, int v)
{
    u %= SW;
    if (u < 0) u += SW;
    v = v < 0 ? 0 : v >= SH ? SH - 1 : v;
    return s[v * SW + u];
}

/* interpolate two packed ARGB pixels, w in 0..256, two channels at a time */
static inline uint32_t lerp8888(uint32_t p, uint32_t q, uint32_t w)
{
    const uint32_t m = 0x00ff00ffu;
    uint32_t rb = ((p & m) * (256 - w) + (q & m) * w) >> 8;
    uint32_t ag = ((p >> 8) & m) * (256 - w) + ((q >> 8) & m) * w;
    return (rb & m) | (ag & ~m);
}

void warp_affine(const uint32_t src[SH * SW], uint32_t dst[DH * DW], const int32_t coef[6])
{
    const Affine t = { coef[0], coef[1], coef[2], coef[3], coef[4], coef[5] };

    for (int y = 0; y < DH; ++y) {
        q16 u = t.b * y + t.c;
        q16 v = t.e * y + t.f;
        for (int x = 0; x < DW; ++x, u += t.a, v += t.d) {
            int iu = u >> 16, iv = v >> 16;
            uint32_t wu = ((uint32_t)u >> 8) & 255, wv = ((uint32_t)v >> 8) & 255;
            uint32_t top = lerp8888(texel(src, iu, iv), texel(src, iu + 1, iv), wu);
            uint32_t bot = lerp8888(texel(src, iu, iv + 1), texel(src, iu + 1, iv + 1), wu);
            dst[y * DW + x] = lerp8888(top, bot, wv);
        }
    }
}
