#include <stdint.h>

#ifndef WORDS
#define WORDS 4     /* 32 pixels each, msb is leftmost */
#endif
#ifndef ROWS
#define ROWS 64
#endif

typedef uint32_t row_t[WORDS];

#define OP_ERODE   0
#define OP_DILATE  1
#define OP_OUTLINE 2
#define OP_MAJORITY 3

static uint32_t west(const uint32_t *r, int w)   /* pixel to the left moves here */
{
    return r[w] >> 1 | (w ? r[w - 1] << 31 : 0);
}

static uint32_t east(const uint32_t *r, int w)
{
    return r[w] << 1 | (w + 1 < WORDS ? r[w + 1] >> 31 : 0);
}

static void step(row_t *dst, row_t *src, unsigned op)
{
    static const row_t blank;

    for (int y = 0; y < ROWS; y++) {
        const uint32_t *u = y ? src[y - 1] : blank, *c = src[y], *d = y + 1 < ROWS ? src[y + 1] : blank;
        for (int w = 0; w < WORDS; w++) {
            uint32_t l = west(c, w), r = east(c, w);
            switch (op & 3) {
            case OP_ERODE:
                dst[y][w] = c[w] & l & r & u[w] & d[w];
                break;
            case OP_DILATE:
                dst[y][w] = c[w] | l | r | u[w] | d[w];
                break;
            case OP_OUTLINE:
                dst[y][w] = c[w] & ~(l & r & u[w] & d[w]);
                break;
            case OP_MAJORITY: {
                /* at least 3 of 5, bit sliced full adders */
                uint32_t s1 = l ^ r ^ u[w], k1 = (l & r) | (u[w] & (l ^ r));
                uint32_t s2 = s1 ^ d[w] ^ c[w], k2 = (s1 & d[w]) | (c[w] & (s1 ^ d[w]));
                dst[y][w] = (k1 & k2) | ((k1 | k2) & s2);
                break;
            }
            }
        }
    }
}

/* program: two bits an operation, lowest first. Returns set pixels. */
unsigned bitmorph(uint32_t image[ROWS][WORDS], uint32_t work[ROWS][WORDS], unsigned program, int nops)
{
    row_t *a = image, *b = work;
    while (nops-- > 0) {
        step(b, a, program);
        program >>= 2;
        row_t *t = a; a = b; b = t;
    }
    unsigned n = 0;
    for (int y = 0; y < ROWS; y++)
        for (int w = 0; w < WORDS; w++) {
            uint32_t v = a[y][w];
            image[y][w] = v;
            while (v) { v &= v - 1; n++; }
        }
    return n;
}
