#include <stdint.h>
#include <stdbool.h>

#ifndef CANVAS_W
#define CANVAS_W 48
#endif
#ifndef CANVAS_H
#define CANVAS_H 36
#endif
#ifndef SEEDS
#define SEEDS 12
#endif

/* paint bucket with colour tolerance, span stack. A full stack leaves the fill incomplete and
   makes the function return -1 (the caller repeats it with another seed) */

#define STACK_DEPTH 256

typedef struct { int16_t xl, xr, y, dy; } Span;

typedef struct {
  uint16_t *pix;
  uint16_t  target;     // rgb565 of the seed
  int       tol;
  Span      stack[STACK_DEPTH];
  int       top;
  bool      overflow;
} Filler;

static bool similar(uint16_t a, uint16_t b, int tol) {
  int dr = (a >> 11) - (b >> 11), dg = ((a >> 5 & 63) - (b >> 5 & 63)) / 2, db = (a & 31) - (b & 31);
  return dr * dr + dg * dg + db * db <= tol;
}

static bool wanted(const Filler *f, int x, int y, uint16_t paint) {
  uint16_t c = f->pix[y * CANVAS_W + x];
  return c != paint && similar(c, f->target, f->tol);
}

static void push_span(Filler *f, int xl, int xr, int y, int dy) {
  if (y + dy < 0 || y + dy >= CANVAS_H) return;
  if (f->top == STACK_DEPTH) { f->overflow = true; return; }
  f->stack[f->top++] = (Span){ (int16_t)xl, (int16_t)xr, (int16_t)y, (int16_t)dy };
}

static int fill_one(Filler *f, int x, int y, uint16_t paint) {
  int painted = 0;
  f->target = f->pix[y * CANVAS_W + x];
  f->top = 0;
  if (f->target == paint) return 0;
  push_span(f, x, x, y, 1);
  push_span(f, x, x, y + 1, -1);

  while (f->top) {
    Span s = f->stack[--f->top];
    int yy = s.y + s.dy, xx = s.xl, l;

    while (xx >= 0 && wanted(f, xx, yy, paint)) {
      f->pix[yy * CANVAS_W + xx--] = paint;
      painted++;
    }
    l = xx + 1;
    if (l < s.xl) push_span(f, l, s.xl - 1, yy, -s.dy);   // leak on the left
    bool open = l <= s.xl && xx < s.xl;
    xx = open ? s.xl + 1 : s.xl;
    for (;;) {
      if (open) {
        while (xx < CANVAS_W && wanted(f, xx, yy, paint)) {
          f->pix[yy * CANVAS_W + xx++] = paint;
          painted++;
        }
        push_span(f, l, xx - 1, yy, s.dy);
        if (xx > s.xr + 1) push_span(f, s.xr + 1, xx - 1, yy, -s.dy);
      }
      while (++xx <= s.xr && !wanted(f, xx, yy, paint)) { }
      if (xx > s.xr) break;
      l = xx;
      open = true;
    }
  }
  return painted;
}

int bucket_fill(uint16_t canvas[CANVAS_W * CANVAS_H], const uint16_t seeds[SEEDS], int tolerance) {
  Filler f = { .pix = canvas, .tol = tolerance };
  int total = 0;
  for (int i = 0; i < SEEDS; i++) {
    int at = seeds[i] % (CANVAS_W * CANVAS_H);
    int y = at / CANVAS_W;
    if (y + 1 >= CANVAS_H) continue;
    total += fill_one(&f, at % CANVAS_W, y, (uint16_t)(0xf800u | i));
  }
  return f.overflow ? -1 : total;
}
