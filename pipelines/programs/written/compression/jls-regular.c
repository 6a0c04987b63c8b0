/*****************************************************************************
 *  MODULE  jls
 *  Near-lossless line coder, regular mode only (no run mode).
 *  Reconstruction goes back into the image, as the decoder would see it.
 *****************************************************************************/
#include <stdint.h>

#ifndef ROWS
#define ROWS 20
#endif
#ifndef COLS
#define COLS 24
#endif
#define NEAR_    1
#define QRANGE   (255 / (2 * NEAR_ + 1) + 2)
#define NCTX     27
#define RESET    64

typedef struct {
    int32_t a;      /* sum of |error|   */
    int32_t b;      /* bias             */
    int16_t c;      /* correction       */
    int16_t n;      /* occurrences      */
} JLS_CTX;

static JLS_CTX ctx[NCTX];

static int Quant3(int g)
{
    if (g <= -4) return -1;
    if (g >=  4) return  1;
    return 0;
}

static int Median3(int a, int b, int c)
{
    int mx = a > b ? a : b, mn = a > b ? b : a;
    if (c >= mx) return mn;
    if (c <= mn) return mx;
    return a + b - c;
}

static int Clip(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

static uint32_t CodePixel(uint8_t *px, int a, int b, int c, int d)
{
    int q, sign = 1, pred, err, k, rec;
    uint32_t mapped;
    JLS_CTX *p;

    q = 9 * Quant3(d - b) + 3 * Quant3(b - c) + Quant3(c - a);
    if (q < 0) { q = -q; sign = -1; }
    p = &ctx[q];

    pred = Clip(Median3(a, b, c) + sign * p->c);
    err = sign * ((int)*px - pred);
    /* quantisation of the error */
    err = err > 0 ? (err + NEAR_) / (2 * NEAR_ + 1) : -((NEAR_ - err) / (2 * NEAR_ + 1));
    rec = Clip(pred + sign * err * (2 * NEAR_ + 1));
    *px = (uint8_t)rec;

    for (k = 0; (int32_t)p->n << k < p->a && k < 12; k++)
        ;
    mapped = err >= 0 ? 2u * (uint32_t)err : 2u * (uint32_t)(-err) - 1u;

    p->b += err * (2 * NEAR_ + 1);
    p->a += err < 0 ? -err : err;
    if (p->n == RESET) {
        p->a /= 2;
        p->b /= 2;
        p->n /= 2;
    }
    p->n++;
    if (p->b <= -p->n) {
        p->b += p->n;
        if (p->c > -128) p->c--;
        if (p->b <= -p->n) p->b = -p->n + 1;
    } else if (p->b > 0) {
        p->b -= p->n;
        if (p->c < 127) p->c++;
        if (p->b > 0) p->b = 0;
    }
    if (mapped >> k < 23)
        return (mapped >> k) + 1u + (uint32_t)k;
    return 23u + 1u + 8u;
}

uint32_t JLS_EncodeImage(uint8_t *img, uint32_t *lineBits)
{
    uint32_t total = 0;
    int i, r, col;

    for (i = 0; i < NCTX; i++) {
        ctx[i].a = QRANGE / 32 > 2 ? QRANGE / 32 : 2;
        ctx[i].b = 0;
        ctx[i].c = 0;
        ctx[i].n = 1;
    }
    for (r = 0; r < ROWS; r++) {
        uint8_t *cur = img + r * COLS;
        const uint8_t *up = r ? cur - COLS : 0;
        lineBits[r] = 0;
        for (col = 0; col < COLS; col++) {
            int b = up ? up[col] : 0;
            int a = col ? cur[col - 1] : b;
            int c = up ? (col ? up[col - 1] : (r > 1 ? up[-COLS] : 0)) : 0;
            int d = up ? up[col + 1 < COLS ? col + 1 : col] : 0;
            lineBits[r] += CodePixel(&cur[col], a, b, c, d);
        }
        total += lineBits[r];
    }
    return total;
}
