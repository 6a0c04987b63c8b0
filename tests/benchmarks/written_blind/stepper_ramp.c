/* Trapezoid ramp of a stepper: time between steps, as in AVR446 (integer only). */
#pragma simfoundry range steps=20:80
int stepper_ramp(int steps, unsigned short delay[80])
{
    int period = 4000, rest = 0, n = 0, top = steps / 2;
    for (int i = 0; i < steps; i++) {
        delay[i] = (unsigned short)period;
        if (i < top) {
            if (period > 600) {
                n++;
                int t = 2 * period + rest;
                period -= t / (4 * n + 1);
                rest = t % (4 * n + 1);
            }
        } else if (steps - i <= n && n > 0) {
            int t = 2 * period + rest;
            period += t / (4 * n + 1);
            rest = t % (4 * n + 1);
            n--;
        }
    }
    return n;
}
