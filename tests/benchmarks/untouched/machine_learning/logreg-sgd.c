/* Train logistic regression by plain stochastic gradient descent. */
#include <math.h>

#ifndef NSAMPLES
#define NSAMPLES 48
#endif
#ifndef NFEATURES
#define NFEATURES 6
#endif
#ifndef NEPOCHS
#define NEPOCHS 6
#endif

float
train(const float *x, const unsigned char *label, float rate, float decay, float *weight)
{
    float velocity[NFEATURES + 1];
    float last_loss, loss;
    int epoch, s, f;

    for (f = 0; f <= NFEATURES; f++) {
        weight[f] = 0;
        velocity[f] = 0;
    }

    last_loss = 1e30f;
    for (epoch = 0; epoch < NEPOCHS; epoch++) {
        const float *row = x;
        loss = 0;
        for (s = 0; s < NSAMPLES; s++) {
            float z, p, err;

            z = weight[NFEATURES];          /* bias */
            for (f = 0; f < NFEATURES; f++)
                z += weight[f] * row[f];
            p = 1 / (1 + expf(-z));
            err = p - (label[s] ? 1.0f : 0.0f);

            /* log loss; p kept away from 0 and 1 */
            if (label[s])
                loss -= logf(p > 1e-6f ? p : 1e-6f);
            else
                loss -= logf(1 - p > 1e-6f ? 1 - p : 1e-6f);

            for (f = 0; f < NFEATURES; f++) {
                velocity[f] = 0.8f * velocity[f] - rate * (err * row[f] + decay * weight[f]);
                weight[f] += velocity[f];
            }
            velocity[NFEATURES] = 0.8f * velocity[NFEATURES] - rate * err;
            weight[NFEATURES] += velocity[NFEATURES];

            row += NFEATURES;
        }
        /* worse than the epoch before by a tenth: the rate is too high */
        if (loss > 1.1f * last_loss)
            rate *= 0.5f;
        else if (last_loss - loss < 1e-4f * loss)
            epoch = NEPOCHS;                /* converged */
        last_loss = loss;
    }
    return last_loss / NSAMPLES;
}

int
main(void)
{
    static float x[NSAMPLES * NFEATURES], w[NFEATURES + 1];
    static unsigned char label[NSAMPLES];
    int i;

    for (i = 0; i < NSAMPLES * NFEATURES; i++)
        x[i] = (float)(i * 37 % 21 - 10) / 10;
    for (i = 0; i < NSAMPLES; i++)
        label[i] = x[i * NFEATURES] + x[i * NFEATURES + 1] > 0;
    return train(x, label, 0.05f, 0.001f, w) < 0.7f ? 0 : 1;
}
