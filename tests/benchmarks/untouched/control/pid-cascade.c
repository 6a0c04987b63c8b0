#include <stdint.h>

/* Cascade for one servo axis, Q16.16 throughout: position controller (P with
 * velocity limit), velocity controller (PI, integrator frozen while the drive
 * saturates), drive with slew limit, axis with viscous and dry friction. */

#ifndef STEPS
#define STEPS 150
#endif
#ifndef HOLD
#define HOLD 25                 /* steps per target */
#endif

typedef int32_t q16;

#define Q16(x)     ((q16)((x) * 65536.0))
#define MUL(a, b)  ((q16)(((int64_t)(a) * (b)) / 65536))

static const q16 DT       = Q16(0.01);
static const q16 V_MAX    = Q16(8.0);
static const q16 U_MAX    = Q16(24.0);
static const q16 U_SLEW   = Q16(6.0);
static const q16 TRAVEL   = Q16(30.0);
static const q16 DAMPING  = Q16(0.9);
static const q16 DRY      = Q16(0.4);
static const q16 DRIVE    = Q16(2.5);

static q16 limit(q16 v, q16 bound)
{
    if (v > bound)
        return bound;
    if (v < -bound)
        return -bound;
    return v;
}

/* kp, kv, ki: gains, position to velocity, velocity to voltage, integral part.
 * Returns the sum of the absolute position errors. */
int64_t pid_cascade(const q16 target[STEPS / HOLD], q16 kp, q16 kv, q16 ki,
                    q16 position[STEPS], q16 voltage[STEPS], int *saturated)
{
    q16 pos = 0, vel = 0, u = 0, integ = 0;
    int64_t cost = 0;

    *saturated = 0;
    for (int k = 0; k < STEPS; k++) {
        q16 goal = limit(target[k / HOLD], TRAVEL);
        q16 err = goal - pos;

        q16 v_ref = limit(MUL(kp, err), V_MAX);
        q16 v_err = v_ref - vel;
        q16 raw = MUL(kv, v_err) + integ;
        q16 want = limit(raw, U_MAX);
        if (raw == want)
            integ = limit(integ + MUL(MUL(ki, DT), v_err), U_MAX);
        else
            ++*saturated;

        q16 change = limit(want - u, U_SLEW);
        u += change;

        q16 acc = MUL(DRIVE, u) - MUL(DAMPING, vel);
        if (vel > 0)
            acc -= DRY;
        else if (vel < 0)
            acc += DRY;
        else if (acc <= DRY && acc >= -DRY)
            acc = 0;            /* sticks */
        vel = limit(vel + MUL(acc, DT), 2 * V_MAX);
        pos += MUL(vel, DT);
        if (pos > TRAVEL || pos < -TRAVEL) {
            pos = limit(pos, TRAVEL);
            vel = 0;
        }

        position[k] = pos;
        voltage[k] = u;
        cost += err < 0 ? -err : err;
    }
    return cost;
}
