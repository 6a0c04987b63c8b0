#include <stdio.h>

typedef struct {
    float kp, ki, kd;
    float integral;
    float previous;
    float limit;
} pid_ctrl;

float pid_update(pid_ctrl *c, float setpoint, float measured, float dt)
{
    float error = setpoint - measured;
    c->integral += error * dt;
    if (c->integral > c->limit)
        c->integral = c->limit;
    else if (c->integral < -c->limit)
        c->integral = -c->limit;
    float derivative = dt > 0 ? (error - c->previous) / dt : 0;
    c->previous = error;
#ifdef DEBUG
    printf("e=%f i=%f d=%f\n", error, c->integral, derivative);
#endif
    return c->kp * error + c->ki * c->integral + c->kd * derivative;
}
