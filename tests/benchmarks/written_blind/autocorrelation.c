#pragma simfoundry range s=-2.0:2.0
void autocorrelation(const float s[80], float r[12])
{
    float mean = 0;
    for (int i = 0; i < 80; ++i)
        mean += s[i];
    mean *= 1.0f / 80;
    for (int lag = 0; lag < 12; ++lag) {
        float acc = 0;
        for (int i = 0; i + lag < 80; ++i)
            acc += (s[i] - mean) * (s[i + lag] - mean);
        r[lag] = acc;
    }
}
