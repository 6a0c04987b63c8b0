/* Power of one tone in a block of samples. */
#pragma simfoundry range coeff=-2.0:2.0 x=-1.0:1.0

float goertzel(const float x[100], float coeff)
{
    float s1 = 0, s2 = 0;
    for (int i = 0; i < 100; i++) {
        float s0 = x[i] + coeff * s1 - s2;
        s2 = s1;
        s1 = s0;
    }
    return s1 * s1 + s2 * s2 - coeff * s1 * s2;
}
