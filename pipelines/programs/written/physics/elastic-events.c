#include <stdint.h>

#ifndef BEADS
#define BEADS 24
#endif
#ifndef MAXEV
#define MAXEV 60
#endif

/* Beads on a wire between two walls, event driven. Everything is Q16.16 in 64 bit.
 * The next event is found by a scan; collisions are elastic, masses differ. */

#define Q 16
typedef int64_t fx;

static fx fxmul(fx a, fx b) { return a * b / (1 << Q); }
static fx fxdiv(fx a, fx b) { return a * (1 << Q) / b; }

struct event { uint8_t kind; uint8_t bead; int32_t when; };

static fx pos[BEADS], vel[BEADS];

/* time until the gap g closes at closing speed s, -1 for never */
static fx due(fx g, fx s)
{
	if (s <= 16)
		return -1;
	if (g <= 0)
		return 0;
	return fxdiv(g, s);
}

int beads_run(const int32_t *gap, const int32_t *speed, const uint8_t *mass, int32_t horizon,
              struct event *log, int32_t *endpos)
{
	fx now = 0, end = 0;
	int n = 0, i;

	for (i = 0; i < BEADS; i++) {
		end += gap[i];
		pos[i] = end;
		vel[i] = speed[i];
	}
	end += gap[0];

	while (n < MAXEV) {
		fx soonest = -1, t;
		int who = -1;

		/* event i: bead i hits its left neighbour; 0 and BEADS are the walls */
		for (i = 0; i <= BEADS; i++) {
			if (i == 0)
				t = due(pos[0], -vel[0]);
			else if (i == BEADS)
				t = due(end - pos[BEADS - 1], vel[BEADS - 1]);
			else
				t = due(pos[i] - pos[i - 1], vel[i - 1] - vel[i]);
			if (t >= 0 && (soonest < 0 || t < soonest)) {
				soonest = t;
				who = i;
			}
		}
		if (who < 0 || now + soonest > horizon)
			break;
		for (i = 0; i < BEADS; i++)
			pos[i] += fxmul(vel[i], soonest);
		now += soonest;

		if (who == 0) {
			vel[0] = -vel[0];
		} else if (who == BEADS) {
			vel[BEADS - 1] = -vel[BEADS - 1];
		} else {
			fx ma = mass[who - 1], mb = mass[who];
			fx va = vel[who - 1], vb = vel[who];
			fx vc = (ma * va + mb * vb) / (ma + mb);
			vel[who - 1] = 2 * vc - va;
			vel[who] = 2 * vc - vb;
		}
		log[n].kind = (uint8_t)(who == 0 ? 1 : who == BEADS ? 2 : 3);
		log[n].bead = (uint8_t)who;
		log[n].when = (int32_t)now;
		n++;
	}
	for (i = 0; i < BEADS; i++)
		endpos[i] = (int32_t)pos[i];
	return n;
}
