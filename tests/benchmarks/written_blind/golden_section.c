/* Minimum of a quartic in [-2, 2] by golden section, until the interval is short. */
static float poly(const float c[5], float x)
{
    return (((c[4] * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0];
}

#pragma simfoundry range c=0.1:2.0
float golden_section(const float c[5], float tolerance[1])
{
    const float g = 0.618034f;
    float a = -2.0f, b = 2.0f;
    float x1 = b - g * (b - a), x2 = a + g * (b - a);
    float f1 = poly(c, x1), f2 = poly(c, x2);
    while (b - a > 0.001f) {
        if (f1 < f2) {
            b = x2;
            x2 = x1;
            f2 = f1;
            x1 = b - g * (b - a);
            f1 = poly(c, x1);
        } else {
            a = x1;
            x1 = x2;
            f1 = f2;
            x2 = a + g * (b - a);
            f2 = poly(c, x2);
        }
    }
    tolerance[0] = b - a;
    return 0.5f * (a + b);
}
