#include <stdbool.h>
#include <stdint.h>

#ifndef CARS
#define CARS 3
#endif
#ifndef FLOORS
#define FLOORS 12
#endif
#ifndef CALLS
#define CALLS 24
#endif
#ifndef TICKS
#define TICKS 160
#endif

typedef enum { CAR_IDLE, CAR_UP, CAR_DOWN, CAR_DOORS } car_state;

typedef struct {
  car_state state, resume;
  int8_t floor;
  uint8_t timer;
  uint8_t load;
  uint32_t stops;        /* floors asked for inside or assigned from outside */
} car;

typedef struct {
  uint16_t when;
  uint8_t from, to;
  int8_t car;            /* -1 not given out, -2 served */
  bool aboard;
} call;

static car bank[CARS];
static call queue[CALLS];

/* nearest car heuristic with a penalty for going the other way */
static int assign(const call *q)
{
  int best = 0, bestcost = 1 << 20;
  for (int c = 0; c < CARS; c++) {
    const car *k = &bank[c];
    int dist = q->from > k->floor ? q->from - k->floor : k->floor - q->from;
    int cost = 3 * dist + 4 * k->load;
    car_state dir = k->state == CAR_DOORS ? k->resume : k->state;
    if ((dir == CAR_UP && q->from < k->floor) || (dir == CAR_DOWN && q->from > k->floor))
      cost += 2 * FLOORS;
    if (cost < bestcost) { bestcost = cost; best = c; }
  }
  return best;
}

static car_state choose_direction(const car *k, car_state pref)
{
  uint32_t above = k->stops >> (k->floor + 1), below = k->stops & ((1u << k->floor) - 1u);
  if (pref == CAR_UP && above) return CAR_UP;
  if (pref == CAR_DOWN && below) return CAR_DOWN;
  if (above) return CAR_UP;
  if (below) return CAR_DOWN;
  return CAR_IDLE;
}

static int exchange(int c, uint16_t now, uint16_t *wait, uint16_t *ride)
{
  car *k = &bank[c];
  int moved = 0;
  for (int i = 0; i < CALLS; i++) {
    call *q = &queue[i];
    if (q->car != c) continue;
    if (q->aboard && q->to == k->floor) {
      ride[i] = (uint16_t)(now - q->when);
      q->car = -2;
      k->load--;
      moved++;
    } else if (!q->aboard && q->from == k->floor) {
      q->aboard = true;
      wait[i] = (uint16_t)(now - q->when);
      k->stops |= 1u << q->to;
      k->load++;
      moved++;
    }
  }
  k->stops &= ~(1u << k->floor);
  return moved;
}

/* times ascending. wait: until boarding; ride: until arrival, both from the call. Returns calls served. */
int elevator_sim(const uint16_t times[CALLS], const uint8_t from[CALLS], const uint8_t to[CALLS],
                 uint16_t wait[CALLS], uint16_t ride[CALLS], uint16_t travelled[CARS])
{
  int served = 0, next = 0;

  for (int c = 0; c < CARS; c++) {
    bank[c] = (car){ CAR_IDLE, CAR_IDLE, (int8_t)(c * (FLOORS - 1) / CARS), 0, 0, 0 };
    travelled[c] = 0;
  }
  for (int i = 0; i < CALLS; i++) {
    uint8_t f = from[i] % FLOORS, t = to[i] % FLOORS;
    if (t == f) t = (uint8_t)((f + 1) % FLOORS);
    queue[i] = (call){ times[i], f, t, -1, false };
    wait[i] = ride[i] = 0xffff;
  }

  for (uint16_t now = 0; now < TICKS; now++) {
    while (next < CALLS && queue[next].when <= now) {
      int c = assign(&queue[next]);
      queue[next].car = (int8_t)c;
      bank[c].stops |= 1u << queue[next].from;
      next++;
    }
    for (int c = 0; c < CARS; c++) {
      car *k = &bank[c];
      switch (k->state) {
        case CAR_UP:
        case CAR_DOWN:
          if (k->timer) { k->timer--; break; }
          k->floor += k->state == CAR_UP ? 1 : -1;
          travelled[c]++;
          k->timer = 1;
          /* fall through */
        case CAR_IDLE:
          if (k->stops >> k->floor & 1u) {
            k->resume = k->state;
            k->state = CAR_DOORS;
            k->timer = 3;
            break;
          }
          k->state = choose_direction(k, k->state);
          break;
        case CAR_DOORS:
          if (k->timer == 3) exchange(c, now, wait, ride);
          if (--k->timer == 0) k->state = choose_direction(k, k->resume);
          break;
      }
    }
  }
  for (int i = 0; i < CALLS; i++)
    served += queue[i].car == -2;
  return served;
}
