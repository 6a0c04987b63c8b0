#include <math.h>

#ifndef CHANNELS
#define CHANNELS 8
#endif
#ifndef SAMPLES
#define SAMPLES 64
#endif
#ifndef LEARN
#define LEARN 16
#endif

enum chan_state { LEARNING, WATCHING, SUSPECT, ALARMED, MUTED };

struct chan {
  enum chan_state state;
  int n, since;
  double mean, m2, sd;
  double up, down;        /* one sided sums */
  double ewma;
};

struct alarm { int channel, when, onset, direction; };

static void relearn(struct chan *c)
{
  c->state = LEARNING;
  c->n = 0;
  c->mean = c->m2 = c->up = c->down = 0.0;
}

static int step(struct chan *c, double x, int t, double k, double h)
{
  double z;

  switch (c->state) {
  case LEARNING:
    {
      double d = x - c->mean;
      c->mean += d / ++c->n;
      c->m2 += d * (x - c->mean);
      if (c->n >= LEARN) {
        c->sd = sqrt(c->m2 / (c->n - 1));
        if (c->sd < 1e-6) c->sd = 1e-6;
        c->ewma = 0.0;
        c->state = WATCHING;
      }
    }
    return 0;
  case MUTED:
    if (t - c->since > 5) relearn(c);
    return 0;
  case ALARMED:
    c->since = t;
    c->state = MUTED;
    return 0;
  default:
    break;
  }

  z = (x - c->mean) / c->sd;
  c->ewma += 0.2 * (z - c->ewma);
  c->up = fmax(0.0, c->up + z - k);
  c->down = fmax(0.0, c->down - z - k);
  if (c->state == WATCHING && (c->up > 0.5 * h || c->down > 0.5 * h)) {
    c->state = SUSPECT;
    c->since = t;
  } else if (c->state == SUSPECT && c->up < 0.1 * h && c->down < 0.1 * h)
    c->state = WATCHING;

  if (c->up <= h && c->down <= h)
    return 0;
  /* a single outlier does not move the slow average: ask for agreement */
  if (fabs(c->ewma) < 0.3) {
    c->up *= 0.5;
    c->down *= 0.5;
    return 0;
  }
  c->state = ALARMED;
  return c->up > h ? 1 : -1;
}

int cusum_scan(const double data[SAMPLES][CHANNELS], const double *drift, double k, double h,
               struct alarm *alarms, int room)
{
  struct chan ch[CHANNELS];
  int n = 0, t, c;

  for (c = 0; c < CHANNELS; c++) {
    relearn(&ch[c]);
    ch[c].since = 0;
  }
  for (t = 0; t < SAMPLES; t++)
    for (c = 0; c < CHANNELS; c++) {
      double x = data[t][c] + (t > SAMPLES / 2 ? drift[c] : 0.0);
      int onset = ch[c].state == SUSPECT ? ch[c].since : t;
      int dir = step(&ch[c], x, t, k, h);
      if (dir && n < room) {
        alarms[n].channel = c;
        alarms[n].when = t;
        alarms[n].onset = onset;
        alarms[n].direction = dir;
        n++;
      }
    }
  return n;
}
