#include <stdint.h>
#include <stdbool.h>

#ifndef IMG_W
#define IMG_W 32
#endif
#ifndef IMG_H
#define IMG_H 28
#endif
#ifndef MAX_CORNERS
#define MAX_CORNERS 64
#endif

/**
 * Segment test corner detector: a pixel is a corner if nine or more
 * neighbouring pixels of the 16 on a circle of radius 3 are all brighter or
 * all darker than the centre.
 */

struct corner
{
  uint16_t x;
  uint16_t y;
  uint16_t score;
  uint16_t kind;      /* 1: dark spot on bright ring, 2: the other way */
};

static const int8_t RING[16][2] =
{
  {  0, -3 }, {  1, -3 }, {  2, -2 }, {  3, -1 },
  {  3,  0 }, {  3,  1 }, {  2,  2 }, {  1,  3 },
  {  0,  3 }, { -1,  3 }, { -2,  2 }, { -3,  1 },
  { -3,  0 }, { -3, -1 }, { -2, -2 }, { -1, -3 }
};

static uint16_t score[IMG_H][IMG_W];
static uint8_t kind[IMG_H][IMG_W];

/* any run of nine ones in the cyclic 16 bit word? */
static bool has_arc (uint32_t m)
{
  m |= m << 16;
  m &= m >> 1;          /* runs of 2 */
  m &= m >> 2;          /* 4 */
  m &= m >> 4;          /* 8 */
  m &= m >> 1;          /* 9 */
  return m != 0;
}

static void test_pixel (const uint8_t *img, int x, int y, int t)
{
  const int centre = img[y * IMG_W + x];
  uint32_t bright = 0, dark = 0;
  int sum_bright = 0, sum_dark = 0;
  int k;

  score[y][x] = 0;
  kind[y][x] = 0;

  /* of two opposite points one must belong to the arc */
  {
    const int n = img[(y - 3) * IMG_W + x] - centre;
    const int s = img[(y + 3) * IMG_W + x] - centre;
    if (n <= t && n >= -t && s <= t && s >= -t)
      return;
  }

  for (k = 0; k < 16; k++)
  {
    const int d = img[(y + RING[k][1]) * IMG_W + x + RING[k][0]] - centre;
    if (d > t)
    {
      bright |= 1u << k;
      sum_bright += d - t;
    }
    else if (d < -t)
    {
      dark |= 1u << k;
      sum_dark += -d - t;
    }
  }

  if (has_arc (bright))
  {
    score[y][x] = (uint16_t) sum_bright;
    kind[y][x] = 1;
  }
  else if (has_arc (dark))
  {
    score[y][x] = (uint16_t) sum_dark;
    kind[y][x] = 2;
  }
}

static bool is_peak (int x, int y)
{
  const int me = score[y][x];
  int dx, dy;

  for (dy = -1; dy <= 1; dy++)
    for (dx = -1; dx <= 1; dx++)
    {
      const int other = score[y + dy][x + dx];
      /* earlier neighbours win a draw */
      if (other > me || (other == me && (dy < 0 || (dy == 0 && dx < 0))))
        return false;
    }
  return true;
}

int find_corners (const uint8_t *img, int threshold, struct corner *list)
{
  int n = 0;
  int x, y;

  for (y = 3; y < IMG_H - 3; y++)
    for (x = 3; x < IMG_W - 3; x++)
      test_pixel (img, x, y, threshold);

  for (y = 3; y < IMG_H - 3; y++)
    for (x = 3; x < IMG_W - 3; x++)
    {
      if (score[y][x] == 0 || !is_peak (x, y))
        continue;
      list[n].x = (uint16_t) x;
      list[n].y = (uint16_t) y;
      list[n].score = score[y][x];
      list[n].kind = kind[y][x];
      if (++n == MAX_CORNERS)
        return n;
    }
  return n;
}
