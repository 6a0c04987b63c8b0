/* Changes the rate by a float ratio; the position runs on in float and is split in each step. */
#pragma simfoundry range in=-1.0:1.0
#pragma simfoundry range ratio=0.4:1.2
int resample_linear(const float in[64], float out[48], float ratio)
{
    float pos = 0.0f;
    int n;
    for (n = 0; n < 48; n++) {
        int i = (int)pos;
        if (i >= 63)
            break;
        float frac = pos - (float)i;
        out[n] = in[i] + frac * (in[i + 1] - in[i]);
        pos += ratio;
    }
    for (int k = n; k < 48; k++)
        out[k] = 0.0f;
    return n;
}
