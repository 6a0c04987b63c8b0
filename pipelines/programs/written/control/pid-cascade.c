/**
 * @file   servo.c
 * @brief  Position / speed / current cascade of a DC servo, Q12 integer arithmetic,
 *         simulated against a simple plant. Runs every TICKS control ticks.
 */
#include <stdint.h>

#ifndef TICKS
#define TICKS 300
#endif

#define QF 12
#define SAT(x, lim) ((x) > (lim) ? (lim) : (x) < -(lim) ? -(lim) : (x))

typedef struct {
    int32_t kp, ki, kd;         /* Q12 */
    int32_t limit;
    int64_t integ;              /* Q12 */
    int32_t last;
    uint16_t sat_count;
} pid_ctl_t;

static int32_t pid_step(pid_ctl_t *c, int32_t ref, int32_t meas)
{
    int32_t e = ref - meas;
    int32_t d = meas - c->last;                 /* derivative on the measurement */
    int64_t u = (int64_t)c->kp * e - (int64_t)c->kd * d + c->integ;
    int64_t top = (int64_t)c->limit << QF;

    c->last = meas;
    if (u > top || u < -top) {
        c->sat_count++;
        /* conditional integration: only when it leads out of the limit */
        if ((u > 0) != (e > 0))
            c->integ += (int64_t)c->ki * e;
        u = SAT(u, top);
    } else
        c->integ += (int64_t)c->ki * e;
    return (int32_t)(u / (1 << QF));
}

/* gains: kp,ki,kd per loop, outermost first. setpoint and load once per tick. */
void servo_run(const int32_t *gains, const int32_t *setpoint, const int16_t *load,
               int32_t *position, int32_t *overshoot, uint16_t saturated[3])
{
    static const int32_t limits[3] = { 4000, 1000, 2400 };
    pid_ctl_t loop[3];
    int32_t pos = 0, vel = 0, cur = 0, vref = 0, iref = 0, peak = 0;
    int i, t;

    for (i = 0; i < 3; i++) {
        loop[i] = (pid_ctl_t){ gains[3 * i], gains[3 * i + 1], gains[3 * i + 2], limits[i], 0, 0, 0 };
    }
    for (t = 0; t < TICKS; t++) {
        int32_t volt;
        if (t % 8 == 0)
            vref = pid_step(&loop[0], setpoint[t], pos);
        if (t % 2 == 0)
            iref = pid_step(&loop[1], vref, vel);
        volt = pid_step(&loop[2], iref, cur);

        /* plant: L/R lag, torque to speed, speed to position */
        cur += (volt - cur - vel / 4) / 4;
        vel += (cur - load[t] - vel / 16) / 8;
        vel = SAT(vel, 20000);
        pos += vel / 16;
        pos = SAT(pos, 2000000);
        position[t] = pos;
        if (pos - setpoint[t] > peak)
            peak = pos - setpoint[t];
    }
    *overshoot = peak;
    for (i = 0; i < 3; i++)
        saturated[i] = loop[i].sat_count;
}
