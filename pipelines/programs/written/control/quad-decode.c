#include <stdint.h>

#ifndef NREADS
#define NREADS 1500
#endif
#ifndef CHANS
#define CHANS 4
#endif

/* port sampling interrupt: four encoders on one port, A/B in bits 2k, 2k+1;
   vertical counters debounce all eight lines at once */

static const int8_t qtab[16] = {
/* old\new  00  01  10  11 */
            0, +1, -1,  2,
           -1,  0,  2, +1,
           +1,  2,  0, -1,
            2, -1, +1,  0,
};

struct encoder {
  int32_t  count;
  int32_t  period;        /* samples between the last two edges */
  uint16_t errors;
  uint16_t last_edge;
  uint8_t  old;
  int8_t   dir;
};

void enc_sample_all(const uint8_t *port, struct encoder enc[CHANS], int32_t *speed_max)
{
  uint8_t stable = port[0], c0 = 0xff, c1 = 0xff;
  int32_t vmax = 0;
  uint16_t t = 0;

  for (int k = 0; k < CHANS; k++) {
    struct encoder e = { 0 };
    e.old = (uint8_t)(stable >> (2 * k) & 3);
    enc[k] = e;
  }

  const uint8_t *p = port, *const end = port + NREADS;
  while (p != end) {
    uint8_t raw = *p++, diff, toggled;

    /* gray noise: most lines rest in a given sample */
    diff = (uint8_t)(raw ^ stable);
    c0 = (uint8_t)~(c0 & diff);
    c1 = (uint8_t)(c0 ^ (c1 & diff));
    toggled = (uint8_t)(diff & c0 & c1);
    stable ^= toggled;
    t++;
    if (!toggled) continue;

    for (int k = 0; k < CHANS; k++) {
      struct encoder *e = enc + k;
      uint8_t now = stable >> (2 * k) & 3;
      int8_t move = qtab[e->old << 2 | now];

      if (move == 0) continue;
      e->old = now;
      if (move == 2) {
        /* both lines changed: assume it went on as before */
        e->errors++;
        e->count += 2 * e->dir;
        continue;
      }
      e->count += move;
      if (move == e->dir) {
        e->period = (uint16_t)(t - e->last_edge);
        if (e->period && 10000 / e->period > vmax) vmax = 10000 / e->period;
      }
      e->dir = move;
      e->last_edge = t;
    }
  }
  *speed_max = vmax;
}
