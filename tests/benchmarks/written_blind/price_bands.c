#include <math.h>
/* Exponential mean and deviation; a signal when a price leaves the band. */
#pragma simfoundry range price=90.0:110.0
int price_bands(const float price[64], signed char signal[64])
{
    float mean = price[0], var = 4.0f;
    int trades = 0;
    for (int i = 0; i < 64; i++) {
        float d = price[i] - mean;
        float band = 1.5f * sqrtf(var);
        signed char s = d > band ? -1 : d < -band ? 1 : 0;
        if (s)
            trades++;
        signal[i] = s;
        mean += 0.2f * d;
        var = 0.8f * (var + 0.2f * d * d);
    }
    return trades;
}
