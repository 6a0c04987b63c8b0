#include <stdlib.h>

#ifndef W
#define W 24
#endif
#ifndef H
#define H 12
#endif
#define BPP 3
#define STRIDE (W * BPP)

typedef unsigned char byte;
typedef byte (*filter_fn)(byte x, byte a, byte b, byte c);

static byte f_none(byte x, byte a, byte b, byte c) { (void)a; (void)b; (void)c; return x; }
static byte f_sub (byte x, byte a, byte b, byte c) { (void)b; (void)c; return (byte)(x - a); }
static byte f_up  (byte x, byte a, byte b, byte c) { (void)a; (void)c; return (byte)(x - b); }
static byte f_avg (byte x, byte a, byte b, byte c) { (void)c; return (byte)(x - ((a + b) >> 1)); }

static byte f_paeth(byte x, byte a, byte b, byte c)
{
    int p = a + b - c;
    int pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    byte pr = (pa <= pb && pa <= pc) ? a : (pb <= pc) ? b : c;
    return (byte)(x - pr);
}

static const filter_fn filters[5] = { f_none, f_sub, f_up, f_avg, f_paeth };

/* Each output row: filter number, then the filtered bytes. The heuristic is the
   smallest sum of absolute values, bytes taken as signed. */
void png_filter_image(const byte *rgb, byte *out, unsigned *score)
{
    static const byte zero[STRIDE];
    const byte *prev = zero;

    for (int y = 0; y < H; ++y, rgb += STRIDE) {
        unsigned best = ~0u;
        int pick = 0;

        for (int f = 0; f < 5; ++f) {
            unsigned sum = 0;
            for (int i = 0; i < STRIDE && sum < best; ++i) {
                byte a = i >= BPP ? rgb[i - BPP] : 0;
                byte c = i >= BPP ? prev[i - BPP] : 0;
                byte v = filters[f](rgb[i], a, prev[i], c);
                sum += v < 128 ? v : 256u - v;
            }
            if (sum < best) { best = sum; pick = f; }
        }
        *out++ = (byte)pick;
        for (int i = 0; i < STRIDE; ++i)
            *out++ = filters[pick](rgb[i], i >= BPP ? rgb[i - BPP] : 0, prev[i], i >= BPP ? prev[i - BPP] : 0);
        score[y] = best;
        prev = rgb;
    }
}

int main(void)
{
    static byte img[H * STRIDE], out[H * (STRIDE + 1)];
    unsigned s[H];
    for (int i = 0; i < H * STRIDE; ++i) img[i] = (byte)(i * i >> 3);
    png_filter_image(img, out, s);
    return out[0] > 4;
}
