#pragma simfoundry range z=-10.0:10.0
float kalman_1d(const float z[40], float est[40])
{
    float x = 0.0f, p = 1.0f;
    const float q = 0.01f, r = 0.5f;
    for (int i = 0; i < 40; i++) {
        p += q;
        float k = p / (p + r);
        x += k * (z[i] - x);
        p *= 1.0f - k;
        est[i] = x;
    }
    return p;
}
