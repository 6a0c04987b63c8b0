// Shallow water in one dimension, finite volumes, HLL fluxes, MUSCL slopes with
// the minmod limiter, adaptive step from the CFL condition, reflecting ends.
#include <math.h>

#ifndef CELLS
#define CELLS 60
#endif
#ifndef MAXSTEP
#define MAXSTEP 10
#endif

#define GRAV 9.81f

typedef struct { float h, hu; } State;

static State U[CELLS + 4], F[CELLS + 1];

static float minmod(float a, float b)
{
    if (a * b <= 0.0f) return 0.0f;
    return fabsf(a) < fabsf(b) ? a : b;
}

static State flux(State s)
{
    float u = s.hu / s.h;
    return (State){ s.hu, s.hu * u + 0.5f * GRAV * s.h * s.h };
}

static State hll(State l, State r)
{
    float ul = l.hu / l.h, ur = r.hu / r.h;
    float cl = sqrtf(GRAV * l.h), cr = sqrtf(GRAV * r.h);
    float sl = fminf(ul - cl, ur - cr), sr = fmaxf(ul + cl, ur + cr);
    State fl = flux(l), fr = flux(r);

    if (sl >= 0.0f) return fl;
    if (sr <= 0.0f) return fr;
    return (State){
        (sr * fl.h - sl * fr.h + sl * sr * (r.h - l.h)) / (sr - sl),
        (sr * fl.hu - sl * fr.hu + sl * sr * (r.hu - l.hu)) / (sr - sl)
    };
}

static State reconstruct(int i, float side)
{
    State s = U[i];
    s.h  += side * 0.5f * minmod(U[i].h - U[i - 1].h, U[i + 1].h - U[i].h);
    s.hu += side * 0.5f * minmod(U[i].hu - U[i - 1].hu, U[i + 1].hu - U[i].hu);
    return s;
}

static void ghosts(void)
{
    for (int g = 0; g < 2; g++) {
        U[1 - g] = U[2 + g];
        U[1 - g].hu = -U[1 - g].hu;
        U[CELLS + 2 + g] = U[CELLS + 1 - g];
        U[CELLS + 2 + g].hu = -U[CELLS + 2 + g].hu;
    }
}

// returns the number of steps taken; stops at tend or after MAXSTEP
int swe_advance(float *depth, float *momentum, float dx, float tend, float *treached)
{
    float t = 0.0f;
    int n = 0;

    for (int i = 0; i < CELLS; i++)
        U[i + 2] = (State){ depth[i], momentum[i] };

    for (; n < MAXSTEP && t < tend; n++) {
        float smax = 1e-6f, dt;
        for (int i = 2; i < CELLS + 2; i++)
            smax = fmaxf(smax, fabsf(U[i].hu / U[i].h) + sqrtf(GRAV * U[i].h));
        dt = 0.4f * dx / smax;
        if (t + dt > tend) dt = tend - t;

        ghosts();
        for (int i = 0; i <= CELLS; i++)
            F[i] = hll(reconstruct(i + 1, 1.0f), reconstruct(i + 2, -1.0f));
        for (int i = 0; i < CELLS; i++) {
            State *u = &U[i + 2];
            u->h  -= dt / dx * (F[i + 1].h - F[i].h);
            u->hu -= dt / dx * (F[i + 1].hu - F[i].hu);
            if (u->h < 1e-3f) {          // dry: keep a film of water, at rest
                u->h = 1e-3f;
                u->hu = 0.0f;
            }
        }
        t += dt;
    }
    for (int i = 0; i < CELLS; i++) {
        depth[i] = U[i + 2].h;
        momentum[i] = U[i + 2].hu;
    }
    *treached = t;
    return n;
}
