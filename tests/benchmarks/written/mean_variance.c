/* Mean and variance in one pass (Welford), double precision. */
void mean_variance(const double x[32], double *mean, double *variance)
{
    double m = 0.0, s = 0.0;
    for (int i = 0; i < 32; i++) {
        double d = x[i] - m;
        m += d / (i + 1);
        s += d * (x[i] - m);
    }
    *mean = m;
    *variance = s / 31.0;
}
