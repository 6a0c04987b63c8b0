#include <stdio.h>

/* Crossing of a main road with a side road and a pedestrian crossing over the
   main road. One event code per second comes in, one lamp byte goes out. */

#ifndef SECONDS
#define SECONDS 300
#endif

/* lamps */
#define MAIN_RED    0x01
#define MAIN_YELLOW 0x02
#define MAIN_GREEN  0x04
#define SIDE_RED    0x08
#define SIDE_YELLOW 0x10
#define SIDE_GREEN  0x20
#define PED_WALK    0x40

enum kind { NOTHING, CAR_MAIN, CAR_SIDE, BUTTON, AMBULANCE };
enum state { GO_MAIN, END_MAIN, ALL_RED_1, READY_SIDE, GO_SIDE, END_SIDE, WALK, ALL_RED_2, READY_MAIN };

static const unsigned char kind_of[16] = {
  NOTHING, CAR_MAIN, CAR_MAIN, CAR_MAIN, CAR_MAIN, CAR_SIDE, CAR_SIDE, BUTTON,
  NOTHING, NOTHING, CAR_MAIN, NOTHING, NOTHING, CAR_SIDE, NOTHING, AMBULANCE
};

static const unsigned char lamps_of[] = {
  MAIN_GREEN | SIDE_RED, MAIN_YELLOW | SIDE_RED, MAIN_RED | SIDE_RED,
  MAIN_RED | SIDE_RED | SIDE_YELLOW, MAIN_RED | SIDE_GREEN, MAIN_RED | SIDE_YELLOW,
  MAIN_RED | SIDE_RED | PED_WALK, MAIN_RED | SIDE_RED, MAIN_RED | MAIN_YELLOW | SIDE_RED
};

struct report {
  int cycles;            /* how often the main road got green again */
  int passed_main, passed_side, walked;
  int longest_main, longest_side;
  long waited;           /* car seconds */
};

int traffic_lights(const unsigned char *event, unsigned char *lamps, struct report *rep)
{
  enum state st = GO_MAIN;
  int timer = 0;         /* seconds in this state */
  int qm = 0, qs = 0;    /* queues */
  int button = 0, siren = 0, after_walk = 0, second;

  rep->cycles = rep->passed_main = rep->passed_side = rep->walked = 0;
  rep->longest_main = rep->longest_side = 0;
  rep->waited = 0;

  for (second = 0; second < SECONDS; second++) {
    enum state old = st;

    switch (kind_of[event[second] & 15]) {
    case CAR_MAIN:  qm++;       break;
    case CAR_SIDE:  qs++;       break;
    case BUTTON:    button++;   break;
    case AMBULANCE: siren = 12; break;   /* comes along the main road */
    default:                    break;
    }
    timer++;

    switch (st) {
    case GO_MAIN:
      if (qm > 0 && timer > 1) {
        qm--;
        rep->passed_main++;
      }
      if (siren > 0)
        break;
      if (timer >= 10 && (qs > 3 || button > 0 || (qm == 0 && qs > 0) || (timer >= 30 && qs > 0)))
        st = END_MAIN;
      break;
    case END_MAIN:
      if (timer >= 3) st = ALL_RED_1;
      break;
    case ALL_RED_1:
      if (siren > 0)
        st = READY_MAIN;
      else if (button > 0)
        st = WALK;
      else if (timer >= 2)
        st = READY_SIDE;
      break;
    case READY_SIDE:
      st = GO_SIDE;
      break;
    case GO_SIDE:
      if (qs > 0 && timer % 2 == 0) {
        qs--;
        rep->passed_side++;
      }
      if (siren > 0 || timer >= 16 || (timer >= 5 && qs == 0))
        st = END_SIDE;
      break;
    case END_SIDE:
      if (timer >= 3) st = ALL_RED_2;
      break;
    case WALK:
      if (timer == 1) {
        rep->walked += button;
        button = 0;
      }
      if (timer >= 8 || (siren > 0 && timer >= 5)) {
        st = ALL_RED_2;
        after_walk = 1;  /* or the side road would never get its turn */
      }
      break;
    case ALL_RED_2:
      if (timer < 2)
        break;
      st = after_walk && qs > 0 && siren == 0 ? READY_SIDE : READY_MAIN;
      after_walk = 0;
      break;
    case READY_MAIN:
      st = GO_MAIN;
      rep->cycles++;
      break;
    }

    if (st != old) timer = 0;
    if (siren > 0) siren--;
    if (qm > rep->longest_main) rep->longest_main = qm;
    if (qs > rep->longest_side) rep->longest_side = qs;
    rep->waited += qm + qs;
    lamps[second] = lamps_of[st];
  }
  return qm + qs;
}

int main(void)
{
  static unsigned char ev[SECONDS], lamps[SECONDS];
  struct report rep;
  int i, left;

  for (i = 0; i < SECONDS; i++) ev[i] = (unsigned char)(i * 7 / 3 % 16);
  left = traffic_lights(ev, lamps, &rep);
  printf("%d cycles, %d + %d cars, %d left\n", rep.cycles, rep.passed_main, rep.passed_side, left);
  return 0;
}
