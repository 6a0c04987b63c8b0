/* One pass of an LMS canceller with 8 weights. */
#define TAPS 8
#pragma simfoundry range ref=-1.0:1.0 noisy=-1.0:1.0

void lms_adapt(const float ref[72], const float noisy[72], float w[TAPS], float err[64])
{
    const float mu = 0.05f;
    for (int n = 0; n < 64; n++) {
        float y = 0.0f;
        for (int k = 0; k < TAPS; k++)
            y += w[k] * ref[n + k];
        float e = noisy[n] - y;
        for (int k = 0; k < TAPS; k++)
            w[k] += mu * e * ref[n + k];
        err[n] = e;
    }
}
