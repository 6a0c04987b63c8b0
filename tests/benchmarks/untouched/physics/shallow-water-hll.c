#include <math.h>

/* One-dimensional shallow water in a closed channel, finite volumes with the
   HLL flux, dry cells allowed, Manning friction. The time step follows the
   Courant number and may be cut by the end of the run. */

#ifndef CELLS
#define CELLS 48
#endif
#ifndef MAX_STEPS
#define MAX_STEPS 16
#endif

#define G        9.81
#define DRY      1e-4
#define COURANT  0.45
#define MANNING2 (0.03 * 0.03)

struct state { double h, q; };          /* depth, discharge */

static struct state flux_of(struct state s)
{
	struct state f = { 0, 0 };
	if (s.h > DRY) {
		f.h = s.q;
		f.q = s.q * s.q / s.h + 0.5 * G * s.h * s.h;
	}
	return f;
}

static double velocity(struct state s)
{
	return s.h > DRY ? s.q / s.h : 0.0;
}

static double celerity(struct state s)
{
	return s.h > DRY ? sqrt(G * s.h) : 0.0;
}

static struct state hll(struct state l, struct state r)
{
	double ul = velocity(l), cl = celerity(l), ur = velocity(r), cr = celerity(r);
	double sl, sr;
	struct state f = { 0, 0 };

	if (l.h <= DRY && r.h <= DRY)
		return f;
	if (l.h <= DRY) {                       /* front runs to the left */
		sl = ur - 2 * cr;
		sr = ur + cr;
	} else if (r.h <= DRY) {
		sl = ul - cl;
		sr = ul + 2 * cl;
	} else {
		sl = fmin(ul - cl, ur - cr);
		sr = fmax(ul + cl, ur + cr);
	}
	if (sl >= 0)
		return flux_of(l);
	if (sr <= 0)
		return flux_of(r);

	struct state fl = flux_of(l), fr = flux_of(r);
	f.h = (sr * fl.h - sl * fr.h + sl * sr * (r.h - l.h)) / (sr - sl);
	f.q = (sr * fl.q - sl * fr.q + sl * sr * (r.q - l.q)) / (sr - sl);
	return f;
}

/* depth and discharge are updated in place; returns the time reached */
double shallow_water_hll(double depth[CELLS], double discharge[CELLS], double dx, double t_end, int *steps)
{
	static struct state u[CELLS + 2], f[CELLS + 1];
	double t = 0;
	int n = 0, i;

	for (i = 0; i < CELLS; i++) {
		u[i + 1].h = depth[i] > DRY ? depth[i] : 0;
		u[i + 1].q = depth[i] > DRY ? discharge[i] : 0;
	}

	while (t < t_end && n < MAX_STEPS) {
		double fastest = 1e-6, dt;

		for (i = 1; i <= CELLS; i++)
			fastest = fmax(fastest, fabs(velocity(u[i])) + 2 * celerity(u[i]));
		dt = COURANT * dx / fastest;
		if (t + dt > t_end)
			dt = t_end - t;

		u[0] = u[1];                    /* walls reflect */
		u[0].q = -u[1].q;
		u[CELLS + 1] = u[CELLS];
		u[CELLS + 1].q = -u[CELLS].q;
		for (i = 0; i <= CELLS; i++)
			f[i] = hll(u[i], u[i + 1]);

		for (i = 1; i <= CELLS; i++) {
			u[i].h -= dt / dx * (f[i].h - f[i - 1].h);
			u[i].q -= dt / dx * (f[i].q - f[i - 1].q);
			if (u[i].h <= DRY) {
				if (u[i].h < 0)
					u[i].h = 0;
				u[i].q = 0;
				continue;
			}
			/* friction, linearised implicit: q / h^(7/3) */
			double third = cbrt(u[i].h);
			double drag = G * MANNING2 * fabs(u[i].q) / (u[i].h * u[i].h * third);
			u[i].q /= 1 + dt * drag;
		}
		t += dt;
		n++;
	}

	for (i = 0; i < CELLS; i++) {
		depth[i] = u[i + 1].h;
		discharge[i] = u[i + 1].q;
	}
	*steps = n;
	return t;
}
