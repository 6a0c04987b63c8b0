#include <math.h>
/* Eccentric anomaly E of M = E - e sin E. */
#pragma simfoundry range M=0.0:6.28
#pragma simfoundry range e=0.0:0.6
void kepler_newton(const double M[8], double e, double E[8])
{
    for (int i = 0; i < 8; i++) {
        double x = M[i], d = 1.0;
        int n = 0;
        while (fabs(d) > 1e-9 && n < 30) {
            d = (x - e * sin(x) - M[i]) / (1.0 - e * cos(x));
            x -= d;
            n++;
        }
        E[i] = x;
    }
}
