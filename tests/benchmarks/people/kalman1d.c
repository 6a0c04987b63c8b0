#include <stdio.h>

struct kalman {
    double x, p, q, r;
};

static double kalman_step(struct kalman *k, double z)
{
    k->p += k->q;
    double gain = k->p / (k->p + k->r);
    k->x += gain * (z - k->x);
    k->p *= 1.0 - gain;
    return k->x;
}

void kalman_filter(const double *z, double *x, int n, double q, double r)
{
    struct kalman k = {.x = z[0], .p = 1.0, .q = q, .r = r};
    for (int i = 0; i < n; i++) {
        x[i] = kalman_step(&k, z[i]);
        printf("%d %f\n", i, x[i]);
    }
}
