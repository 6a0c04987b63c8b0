/* Leapfrog of the wave equation on a string with a damped end. */
#pragma simfoundry range now=-0.1:0.1 before=-0.1:0.1
float string_wave(float now[40], float before[40])
{
    const float c2 = 0.81f;
    float energy = 0.0f;
    for (int t = 0; t < 10; t++) {
        float left = now[0];
        for (int i = 1; i < 39; i++) {
            float here = now[i];
            float next = 2.0f * here - before[i] + c2 * (left - 2.0f * here + now[i + 1]);
            before[i] = here;
            left = here;
            now[i] = next;
        }
        now[39] = 0.98f * now[38];
    }
    for (int i = 0; i < 40; i++) {
        float v = now[i] - before[i];
        energy += v * v;
    }
    return energy;
}
