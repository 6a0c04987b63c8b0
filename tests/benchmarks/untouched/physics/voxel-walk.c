/* Walks rays cell by cell through a density volume (after Amanatides and Woo)
   in integers and attenuates them. Positions have 8 fraction bits. */

#include <stdint.h>

#ifndef SIDE
#define SIDE 12
#endif
#ifndef RAYS
#define RAYS 24
#endif

#define FRAC   8
#define ONE    (1 << FRAC)
#define NEVER  INT64_MAX
#define FULL   32768u
#define DARK   600u

typedef struct ray_axis {
  int     cell, step, border;
  int64_t next, delta;        /* "time" of the next border, time per cell */
} ray_axis;

static void start_axis(ray_axis *a, int pos, int dir)
{
  a->cell = pos >> FRAC;
  if (dir == 0) {
    a->step = 0;
    a->border = -2;
    a->next = NEVER;
    a->delta = 0;
    return;
  }
  int speed = dir > 0 ? dir : -dir;
  int way = dir > 0 ? ONE - (pos & (ONE - 1)) : (pos & (ONE - 1));
  a->step = dir > 0 ? 1 : -1;
  a->border = dir > 0 ? SIDE : -1;
  a->delta = ((int64_t)ONE << 20) / speed;
  a->next = ((int64_t)way << 20) / speed;
}

/* pos: x, y, z of every ray, inside the volume; dir likewise, any size.
   left[r]: what remains of FULL; cells[r]: how many cells were visited. */
long voxel_walk(const uint8_t *volume, const int32_t *pos, const int32_t *dir,
                uint16_t *left, uint16_t *cells)
{
  long absorbed = 0;
  int r;

  for (r = 0; r < RAYS; r++, pos += 3, dir += 3) {
    ray_axis ax[3];
    uint32_t light = FULL;
    unsigned seen = 0;
    int k;

    for (k = 0; k < 3; k++)
      start_axis(&ax[k], pos[k], dir[k]);

    for (;;) {
      uint32_t density = volume[(ax[2].cell * SIDE + ax[1].cell) * SIDE + ax[0].cell];

      seen++;
      light -= light * density >> 10;
      if (light < DARK) {
        light = 0;
        break;
      }
      k = ax[0].next <= ax[1].next ? 0 : 1;
      if (ax[2].next < ax[k].next)
        k = 2;
      if (ax[k].step == 0)
        break;                /* stands still */
      ax[k].cell += ax[k].step;
      if (ax[k].cell == ax[k].border)
        break;
      ax[k].next += ax[k].delta;
    }
    left[r] = (uint16_t)light;
    cells[r] = (uint16_t)seen;
    absorbed += (long)(FULL - light);
  }
  return absorbed;
}
