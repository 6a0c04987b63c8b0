#include <stdint.h>
#include <stddef.h>
#include <string.h>

#ifndef WIDTH
#define WIDTH 40 // multiple of 8
#endif
#ifndef HEIGHT
#define HEIGHT 32
#endif

// Printer head wants one bit per dot, MSB is the leftmost one, 1 = ink.
// Paper darkens more than it should (dot gain), hence the tone curve: 17
// knots, linear in between.
static const uint8_t curve[17] = {
  0, 28, 52, 73, 92, 109, 125, 140, 154, 168, 181, 194, 206, 218, 230, 242, 255
};

static int tone(uint8_t v) {
  int k = v >> 4, f = v & 15;
  return curve[k] + ((curve[k + 1] - curve[k]) * f + 8) / 16;
}

// Errors are kept in sixteenths. One guard cell at both ends swallows what
// would leave the paper.
static int rows[2][WIDTH + 2];

uint32_t dither_page(const uint8_t *gray, size_t stride, uint8_t *bits) {
  int *cur = rows[0], *next = rows[1];
  uint32_t ink = 0;

  memset(rows, 0, sizeof rows);
  memset(bits, 0, WIDTH / 8 * HEIGHT);

  for (int y = 0; y < HEIGHT; y++) {
    const int d = (y & 1) ? -1 : 1;
    int x = (y & 1) ? WIDTH - 1 : 0;
    uint8_t *line = bits + (size_t)y * (WIDTH / 8);

    for (int left = WIDTH; left > 0; left--, x += d) {
      int want = 16 * tone(gray[x]) + cur[x + 1];
      int got = want >= 16 * 128 ? 255 : 0;
      int err = want / 16 - got;

      if (!got) {
        line[x >> 3] |= (uint8_t)(0x80u >> (x & 7));
        ink++;
      }
      cur[x + 1 + d]  += 7 * err;
      next[x + 1 - d] += 3 * err;
      next[x + 1]     += 5 * err;
      next[x + 1 + d] += 1 * err;
    }
    gray += stride;

    int *swap = cur;
    cur = next;
    next = swap;
    memset(next, 0, sizeof rows[0]);
  }
  return ink;
}
