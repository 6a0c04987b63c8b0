/* Polyphase decimator: 16 taps, one output for four inputs. */
#define TAPS 16
#define FACTOR 4
#define OUTPUTS 24

static const float coeff[TAPS] = {
    -0.0021f, -0.0068f, -0.0049f, 0.0172f, 0.0583f, 0.1067f, 0.1466f, 0.1650f,
    0.1650f,  0.1466f,  0.1067f,  0.0583f, 0.0172f, -0.0049f, -0.0068f, -0.0021f};

#pragma simfoundry range x=-1.0:1.0
void decimate_by_4(const float x[FACTOR * OUTPUTS + TAPS], float y[OUTPUTS])
{
    for (int n = 0; n < OUTPUTS; n++) {
        const int start = n * FACTOR;
        float acc = 0.0f;
        for (int k = 0; k < TAPS; k++)
            acc += coeff[k] * x[start + TAPS - 1 - k];
        y[n] = acc;
    }
}
