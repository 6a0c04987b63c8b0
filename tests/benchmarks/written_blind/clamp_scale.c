#pragma simfoundry range x=-4.0:4.0
void clamp_scale(const float x[32], float y[32], float lo, float hi)
{
    for (int i = 0; i < 32; i++) {
        float v = x[i] * 1.5f;
        y[i] = v < lo ? lo : v > hi ? hi : v;
    }
}
