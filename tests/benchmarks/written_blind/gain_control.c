static float gain = 1.0f;

#pragma simfoundry range mic=-0.8:0.8
int gain_control(const float mic[100], float out[100])
{
    const float target = 0.5f, attack = 0.1f, release = 0.002f;
    int clipped = 0;
    for (int i = 0; i < 100; i++) {
        float y = mic[i] * gain;
        float mag = y < 0 ? -y : y;
        if (mag > target)
            gain -= attack * (mag - target);
        else
            gain += release * (target - mag);
        if (y > 1.0f) {
            y = 1.0f;
            clipped++;
        } else if (y < -1.0f) {
            y = -1.0f;
            clipped++;
        }
        out[i] = y;
    }
    return clipped;
}
