#include <stdint.h>

#ifndef FRAMES
#define FRAMES 11
#endif
#ifndef PIXELS
#define PIXELS 40
#endif

typedef uint16_t pixel_t;

/* smaller value to *a, larger to *b, without a branch */
static inline void compare_exchange(pixel_t *a, pixel_t *b)
{
  uint32_t x = *a, y = *b;
  uint32_t swap = (x ^ y) & (0u - (uint32_t)(x > y));
  *a = (pixel_t)(x ^ swap);
  *b = (pixel_t)(y ^ swap);
}

/*
 * Median of a stack of exposures, pixel by pixel, against cosmic rays and
 * satellite trails. The frames of all pixels are put in order with Batcher's
 * merge exchange network (any number of frames, the same comparisons for
 * every pixel). "spread" gets the distance between the quartiles.
 */
void median_of_exposures(pixel_t stack[FRAMES][PIXELS], pixel_t median[PIXELS], pixel_t spread[PIXELS])
{
  int top = 1;
  while (2 * top < FRAMES)
    top *= 2;

  for (int p = top; p > 0; p /= 2)
  {
    int q = top, r = 0, d = p;
    for (;;)
    {
      for (int i = 0; i + d < FRAMES; i++)
        if ((i & p) == r)
          for (int x = 0; x < PIXELS; x++)
            compare_exchange(&stack[i][x], &stack[i + d][x]);
      if (q == p)
        break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }

  for (int x = 0; x < PIXELS; x++)
  {
#if FRAMES % 2
    median[x] = stack[FRAMES / 2][x];
#else
    median[x] = (pixel_t)((stack[FRAMES / 2 - 1][x] + stack[FRAMES / 2][x] + 1) / 2);
#endif
    spread[x] = (pixel_t)(stack[FRAMES - 1 - FRAMES / 4][x] - stack[FRAMES / 4][x]);
  }
}
