/* Inner loop of a quadcopter: filters of the gyroscope, three PID loops with limits, and the mixer
   of four motors. State stays between calls in file scope. */
#define AXES 3
#define MOTORS 4
#define TICKS 6

struct axis {
    float kp, ki, kd, limit;
};

static const struct axis tuning[AXES] = {
    {1.20f, 0.050f, 0.0040f, 0.30f},
    {1.25f, 0.050f, 0.0045f, 0.30f},
    {2.00f, 0.020f, 0.0000f, 0.20f},
};

static const signed char mix[MOTORS][AXES] = {
    {-1, 1, 1},
    {-1, -1, -1},
    {1, 1, -1},
    {1, -1, 1},
};

static float filtered[AXES];
static float integral[AXES];
static float last_error[AXES];

static float limited(float v, float most)
{
    if (v > most)
        return most;
    if (v < -most)
        return -most;
    return v;
}

static float pid(int axis, float wanted, float dt)
{
    const float ki = tuning[axis].ki, kd = tuning[axis].kd;
    float error = wanted - filtered[axis];
    integral[axis] = limited(integral[axis] + ki * error * dt, tuning[axis].limit);
    float slope = (error - last_error[axis]) / dt;
    last_error[axis] = error;
    return tuning[axis].kp * error + integral[axis] + kd * slope;
}

#pragma simfoundry range gyro=-2.0:2.0 stick=-1.0:1.0
#pragma simfoundry range throttle=0.2:0.8
int flight_mixer(const float gyro[TICKS][AXES], const float stick[AXES], float throttle,
                 unsigned short pwm[TICKS][MOTORS])
{
    const float dt = 0.002f;
    int saturated = 0;

    for (int t = 0; t < TICKS; t++) {
        float torque[AXES];

        for (int a = 0; a < AXES; a++) {
            filtered[a] += 0.4f * (gyro[t][a] - filtered[a]);
            torque[a] = pid(a, stick[a], dt);
        }

        for (int m = 0; m < MOTORS; m++) {
            float thrust = throttle;
            for (int a = 0; a < AXES; a++) {
                if (mix[m][a] > 0)
                    thrust += 0.25f * torque[a];
                else
                    thrust -= 0.25f * torque[a];
            }
            if (thrust < 0.05f) {
                thrust = 0.05f;
                saturated++;
            } else if (thrust > 1.0f) {
                thrust = 1.0f;
                saturated++;
            }
            pwm[t][m] = (unsigned short)(1000.0f + 1000.0f * thrust);
        }
    }
    return saturated;
}
