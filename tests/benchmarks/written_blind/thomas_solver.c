/* Tridiagonal system: lower a, diagonal b, upper c, right side d. */
#pragma simfoundry range a=-1.0:1.0 b=3.0:5.0 c=-1.0:1.0 d=-10.0:10.0
void thomas_solver(const double a[32], const double b[32], const double c[32], const double d[32], double x[32])
{
    double cp[32], dp[32];
    cp[0] = c[0] / b[0];
    dp[0] = d[0] / b[0];
    for (int i = 1; i < 32; i++) {
        double m = 1.0 / (b[i] - a[i] * cp[i - 1]);
        cp[i] = c[i] * m;
        dp[i] = (d[i] - a[i] * dp[i - 1]) * m;
    }
    x[31] = dp[31];
    for (int i = 30; i >= 0; i--)
        x[i] = dp[i] - cp[i] * x[i + 1];
}
