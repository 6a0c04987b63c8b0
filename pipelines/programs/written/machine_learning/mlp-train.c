#include <math.h>
#include <string.h>

#ifndef NIN
#define NIN 8
#endif
#ifndef NHID
#define NHID 10
#endif
#ifndef NOUT
#define NOUT 4
#endif
#ifndef NSAMP
#define NSAMP 16
#endif
#ifndef EPOCHS
#define EPOCHS 3
#endif

typedef struct {
    float w1[NHID][NIN], b1[NHID];
    float w2[NOUT][NHID], b2[NOUT];
} mlp_params;

typedef struct {
    mlp_params p;       /* weights */
    mlp_params v;       /* momentum */
    mlp_params g;       /* gradient of the batch */
} mlp;

#define NPARAM (sizeof(mlp_params) / sizeof(float))
#define LEAK 0.05f

static mlp net;

/* forward pass; returns the cross entropy and leaves activations behind */
static float mlp_forward(const mlp_params *p, const float *x, int target,
                         float *hid, float *prob)
{
    for (int h = 0; h < NHID; h++) {
        float a = p->b1[h];
        for (int i = 0; i < NIN; i++)
            a += p->w1[h][i] * x[i];
        hid[h] = a > 0 ? a : LEAK * a;
    }
    float top = -1e9f, sum = 0;
    for (int o = 0; o < NOUT; o++) {
        float a = p->b2[o];
        for (int h = 0; h < NHID; h++)
            a += p->w2[o][h] * hid[h];
        prob[o] = a;
        if (a > top)
            top = a;
    }
    for (int o = 0; o < NOUT; o++)
        sum += prob[o] = expf(prob[o] - top);
    for (int o = 0; o < NOUT; o++)
        prob[o] /= sum;
    return -logf(prob[target] + 1e-12f);
}

static void mlp_backward(const mlp_params *p, mlp_params *g, const float *x, int target,
                         const float *hid, const float *prob)
{
    float dhid[NHID] = {0};
    for (int o = 0; o < NOUT; o++) {
        float d = prob[o] - (o == target);
        g->b2[o] += d;
        for (int h = 0; h < NHID; h++) {
            g->w2[o][h] += d * hid[h];
            dhid[h] += d * p->w2[o][h];
        }
    }
    for (int h = 0; h < NHID; h++) {
        float d = hid[h] > 0 ? dhid[h] : LEAK * dhid[h];
        g->b1[h] += d;
        for (int i = 0; i < NIN; i++)
            g->w1[h][i] += d * x[i];
    }
}

/* all members are floats without gaps, so the update runs over them as one array */
static void mlp_update(mlp *n, float rate, float mom)
{
    float *w = (float *)&n->p, *v = (float *)&n->v;
    const float *g = (const float *)&n->g;
    float norm = 0;
    for (size_t i = 0; i < NPARAM; i++)
        norm += g[i] * g[i];
    norm = sqrtf(norm);
    float k = norm > 5.0f ? 5.0f / norm : 1.0f;
    for (size_t i = 0; i < NPARAM; i++) {
        v[i] = mom * v[i] - rate * k * g[i];
        w[i] += v[i];
    }
}

int mlp_train(const float *samples, const unsigned char *target, const float *init,
              float rate, float *curve, float *trained)
{
    float hid[NHID], prob[NOUT];
    int hits = 0;

    memset(&net, 0, sizeof net);
    memcpy(&net.p, init, sizeof net.p);

    for (int e = 0; e < EPOCHS; e++) {
        float loss = 0;
        for (int half = 0; half < 2; half++) {              /* two batches */
            memset(&net.g, 0, sizeof net.g);
            for (int s = half; s < NSAMP; s += 2) {
                const float *x = samples + s * NIN;
                loss += mlp_forward(&net.p, x, target[s], hid, prob);
                mlp_backward(&net.p, &net.g, x, target[s], hid, prob);
            }
            mlp_update(&net, rate / (1 + e), 0.9f);
        }
        curve[e] = loss / NSAMP;
    }
    for (int s = 0; s < NSAMP; s++) {
        int best = 0;
        mlp_forward(&net.p, samples + s * NIN, target[s], hid, prob);
        for (int o = 1; o < NOUT; o++)
            if (prob[o] > prob[best])
                best = o;
        hits += best == target[s];
    }
    memcpy(trained, &net.p, sizeof net.p);
    return hits;
}
