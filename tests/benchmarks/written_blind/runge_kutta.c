/* Van der Pol oscillator, fourth order, fixed step. */
static void slope(float x, float v, float mu, float *dx, float *dv)
{
    *dx = v;
    *dv = mu * (1.0f - x * x) * v - x;
}

#pragma simfoundry range x0=-1.0:1.0
#pragma simfoundry range v0=-1.0:1.0
#pragma simfoundry range mu=0.5:2.0
void runge_kutta(float x0, float v0, float mu, float trace[16][2])
{
    const float h = 0.05f;
    float x = x0, v = v0;
    for (int i = 0; i < 16; i++) {
        float a1, b1, a2, b2, a3, b3, a4, b4;
        slope(x, v, mu, &a1, &b1);
        slope(x + 0.5f * h * a1, v + 0.5f * h * b1, mu, &a2, &b2);
        slope(x + 0.5f * h * a2, v + 0.5f * h * b2, mu, &a3, &b3);
        slope(x + h * a3, v + h * b3, mu, &a4, &b4);
        x += h / 6.0f * (a1 + 2.0f * (a2 + a3) + a4);
        v += h / 6.0f * (b1 + 2.0f * (b2 + b3) + b4);
        trace[i][0] = x;
        trace[i][1] = v;
    }
}
