#include <math.h>
#ifndef NX
#define NX 10
#endif
#ifndef NY
#define NY 8
#endif
#ifndef STEPS
#define STEPS 6
#endif
#ifndef RELAX
#define RELAX 3
#endif

typedef struct Particle { double p[3], old[3]; int pinned; } Particle;

static Particle cloth[NY][NX];

static void satisfy(Particle *a, Particle *b, double rest, double stiff)
{
	double d[3], len2 = 0.0, k;
	int i;
	for (i = 0; i < 3; i++) {
		d[i] = b->p[i] - a->p[i];
		len2 += d[i] * d[i];
	}
	/* one Newton step for the root: no square root in the inner loop */
	k = stiff * (rest * rest / (len2 + rest * rest) - 0.5);
	for (i = 0; i < 3; i++) {
		if (!a->pinned) a->p[i] -= d[i] * k;
		if (!b->pinned) b->p[i] += d[i] * k;
	}
}

/*
 * Sheet hung up at two corners, falls on a ball at the origin. wind: one vector per step.
 * out gets the positions; returns the potential energy (mass 1, g 9.81).
 */
double cloth_run(const double wind[STEPS][3], double spacing, double radius, double out[NY][NX][3])
{
	const double dt = 0.02, damp = 0.99;
	double energy = 0.0;
	int s, r, x, y, i;

	for (y = 0; y < NY; y++)
		for (x = 0; x < NX; x++) {
			Particle *q = &cloth[y][x];
			q->p[0] = q->old[0] = (x - NX / 2) * spacing;
			q->p[1] = q->old[1] = radius + 0.05;
			q->p[2] = q->old[2] = (y - NY / 2) * spacing;
			q->pinned = y == 0 && (x == 0 || x == NX - 1);
		}

	for (s = 0; s < STEPS; s++) {
		double acc[3] = { wind[s][0], wind[s][1] - 9.81, wind[s][2] };
		for (y = 0; y < NY; y++)
			for (x = 0; x < NX; x++) {
				Particle *q = &cloth[y][x];
				if (q->pinned) continue;
				for (i = 0; i < 3; i++) {
					double cur = q->p[i];
					q->p[i] += (cur - q->old[i]) * damp + acc[i] * dt * dt;
					q->old[i] = cur;
				}
			}
		for (r = 0; r < RELAX; r++) {
			for (y = 0; y < NY; y++)
				for (x = 0; x < NX; x++) {
					if (x + 1 < NX) satisfy(&cloth[y][x], &cloth[y][x + 1], spacing, 1.0);
					if (y + 1 < NY) satisfy(&cloth[y][x], &cloth[y + 1][x], spacing, 1.0);
					/* bending */
					if (x + 2 < NX) satisfy(&cloth[y][x], &cloth[y][x + 2], 2.0 * spacing, 0.2);
				}
			for (y = 0; y < NY; y++)
				for (x = 0; x < NX; x++) {
					double *p = cloth[y][x].p;
					double d2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
					if (!cloth[y][x].pinned && d2 < radius * radius && d2 > 1e-9) {
						double f = radius / sqrt(d2);
						p[0] *= f; p[1] *= f; p[2] *= f;
					}
				}
		}
	}
	for (y = 0; y < NY; y++)
		for (x = 0; x < NX; x++) {
			for (i = 0; i < 3; i++) out[y][x][i] = cloth[y][x].p[i];
			energy += 9.81 * cloth[y][x].p[1];
		}
	return energy;
}
