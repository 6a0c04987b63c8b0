/* Adaptive notch: follows one sine in noise and removes it.
 *
 *   H(z) = (1 + a z^-1 + z^-2) / (1 + rho a z^-1 + rho^2 z^-2)
 *
 * a is moved along the gradient of the output power, rho slides towards RHO_END.
 */
#ifndef LEN
#define LEN 160
#endif

#define RHO_BEGIN 0.80
#define RHO_END   0.96
#define SLIDE     0.98

typedef struct
{
    double u1, u2;     /* state of the all-pole part */
    double s1, s2;     /* state of the gradient filter */
    double power;
} NotchState;

static double clampCoefficient(double a)
{
    const double edge = 1.98;
    return a > edge ? edge : a < -edge ? -edge : a;
}

long notchTrack(const float *in, float *out, double a0, double mu, double *aEnd)
{
    NotchState st = { 0.0, 0.0, 0.0, 0.0, 1.0 };
    double a = a0, rho = RHO_BEGIN;
    long settled = -1;
    int quiet = 0;

    for (int n = 0; n < LEN; ++n)
    {
        double u = *in++ - rho * a * st.u1 - rho * rho * st.u2;
        double y = u + a * st.u1 + st.u2;
        double grad = st.u1 - rho * st.s1;

        st.power = 0.95 * st.power + 0.05 * grad * grad;
        double step = mu * y * grad / (st.power + 1e-3);
        if (step > 0.1)
            step = 0.1;
        else if (step < -0.1)
            step = -0.1;
        a = clampCoefficient(a - step);

        st.s2 = st.s1;
        st.s1 = grad * 0.5;
        st.u2 = st.u1;
        st.u1 = u;
        rho = SLIDE * rho + (1.0 - SLIDE) * RHO_END;

        *out++ = (float)y;
        if (step < 0.004 && step > -0.004)
        {
            if (++quiet == 12 && settled < 0)
                settled = n;
        }
        else
            quiet = 0;
    }
    *aEnd = a;
    return settled;
}
