#include <math.h>
#include <stddef.h>
/*
** Torque-driven rotation of rigid bodies: Euler's equations in the body frame
** and the attitude quaternion, classic Runge-Kutta of order four.
*/
#ifndef BODIES
#define BODIES 4
#endif
#ifndef STEPS
#define STEPS 10
#endif

typedef double real;

typedef union
{
	struct { real w, x, y, z, wx, wy, wz; } n;
	real v[7];
} State;

typedef struct
{
	real attitude[4];
	real rate[3];
	real energy;
	real momentum;
} Body;

static State derive(const State *s, const real *inertia, const real *torque)
{
	State d;
	real w = s->n.w, x = s->n.x, y = s->n.y, z = s->n.z;
	real p = s->n.wx, q = s->n.wy, r = s->n.wz;

	/* torque is given in the world, needed in the body: rows of R transposed */
	real tx = (1 - 2 * (y * y + z * z)) * torque[0] + 2 * (x * y + w * z) * torque[1] + 2 * (x * z - w * y) * torque[2];
	real ty = 2 * (x * y - w * z) * torque[0] + (1 - 2 * (x * x + z * z)) * torque[1] + 2 * (y * z + w * x) * torque[2];
	real tz = 2 * (x * z + w * y) * torque[0] + 2 * (y * z - w * x) * torque[1] + (1 - 2 * (x * x + y * y)) * torque[2];

	d.n.w = (-x * p - y * q - z * r) / 2;
	d.n.x = ( w * p + y * r - z * q) / 2;
	d.n.y = ( w * q + z * p - x * r) / 2;
	d.n.z = ( w * r + x * q - y * p) / 2;
	d.n.wx = (tx - (inertia[2] - inertia[1]) * q * r) / inertia[0];
	d.n.wy = (ty - (inertia[0] - inertia[2]) * r * p) / inertia[1];
	d.n.wz = (tz - (inertia[1] - inertia[0]) * p * q) / inertia[2];
	return d;
}

static State ahead(const State *s, const State *d, real h)
{
	State r;
	int i;
	for (i = 0; i < 7; i++)
		r.v[i] = s->v[i] + h * d->v[i];
	return r;
}

static void renormalise(State *s)
{
	real n = sqrt(s->n.w * s->n.w + s->n.x * s->n.x + s->n.y * s->n.y + s->n.z * s->n.z);
	if (n < 1e-9)
	{
		s->n.w = 1;
		s->n.x = s->n.y = s->n.z = 0;
		return;
	}
	s->n.w /= n;
	s->n.x /= n;
	s->n.y /= n;
	s->n.z /= n;
}

void rigid_quaternion(const real *start, const real *rate, const real *inertia, const real *torque,
                      real dt, Body *body)
{
	size_t b;
	int k, i;

	for (b = 0; b < BODIES; b++)
	{
		const real *I = inertia + 3 * b;
		State s, k1, k2, k3, k4, t;

		for (i = 0; i < 4; i++)
			s.v[i] = start[4 * b + i];
		for (i = 0; i < 3; i++)
			s.v[4 + i] = rate[3 * b + i];
		renormalise(&s);

		for (k = 0; k < STEPS; k++)
		{
			const real *m = torque + 3 * (b * STEPS + k);
			k1 = derive(&s, I, m);
			t = ahead(&s, &k1, dt / 2);
			k2 = derive(&t, I, m);
			t = ahead(&s, &k2, dt / 2);
			k3 = derive(&t, I, m);
			t = ahead(&s, &k3, dt);
			k4 = derive(&t, I, m);
			for (i = 0; i < 7; i++)
				s.v[i] += dt / 6 * (k1.v[i] + 2 * (k2.v[i] + k3.v[i]) + k4.v[i]);
			renormalise(&s);
		}

		body[b].energy = body[b].momentum = 0;
		for (i = 0; i < 4; i++)
			body[b].attitude[i] = s.v[i];
		for (i = 0; i < 3; i++)
		{
			real w = s.v[4 + i];
			body[b].rate[i] = w;
			body[b].energy += I[i] * w * w / 2;
			body[b].momentum += I[i] * w * I[i] * w;
		}
		body[b].momentum = sqrt(body[b].momentum);
	}
}
