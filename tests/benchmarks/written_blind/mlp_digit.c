#define IN 24
#define HID 10
#define OUT 4
/* Two dense layers; returns the class of the largest output. */
static void layer(const float *x, const float *w, const float *b, float *y, int nx, int ny, int relu)
{
    for (int j = 0; j < ny; j++) {
        float s = b[j];
        for (int i = 0; i < nx; i++)
            s += w[j * nx + i] * x[i];
        y[j] = relu && s < 0.0f ? 0.0f : s;
    }
}

#pragma simfoundry range x=0.0:1.0 w1=-0.5:0.5 b1=-0.1:0.1 w2=-0.5:0.5 b2=-0.1:0.1
int mlp_digit(const float x[IN], const float w1[HID * IN], const float b1[HID], const float w2[OUT * HID],
              const float b2[OUT], float score[OUT])
{
    float hidden[HID];
    layer(x, w1, b1, hidden, IN, HID, 1);
    layer(hidden, w2, b2, score, HID, OUT, 0);
    int best = 0;
    for (int i = 1; i < OUT; i++)
        if (score[i] > score[best])
            best = i;
    return best;
}
