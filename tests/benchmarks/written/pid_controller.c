#pragma simfoundry range target=-1000:1000
/* Integer PID with anti-windup driving a first-order plant model. */
int pid_controller(const int target[60], int actual[60])
{
    int integral = 0, last = 0, plant = 0;
    for (int t = 0; t < 60; t++) {
        int e = target[t] - plant;
        int trial = integral + e;
        int u = (24 * e + 3 * trial + 10 * (e - last)) / 16;
        if (u > 500)
            u = 500;
        else if (u < -500)
            u = -500;
        else
            integral = trial;
        last = e;
        plant += (u - plant) / 4;
        actual[t] = plant;
    }
    return integral;
}
