#pragma simfoundry range x=0.5:1000.0
/* Roots by Newton's method until the step is small. */
void newton_sqrt_double(const double x[12], double r[12])
{
    for (int i = 0; i < 12; i++) {
        double g = x[i] > 1.0 ? x[i] / 2 : 1.0;
        double d;
        do {
            double next = 0.5 * (g + x[i] / g);
            d = g - next;
            g = next;
        } while (d > 1e-6 || d < -1e-6);
        r[i] = g;
    }
}
