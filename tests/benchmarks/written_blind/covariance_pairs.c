#define VARS 5
#define OBS 24
#pragma simfoundry range x=-10.0:10.0
void covariance_pairs(const float x[OBS][VARS], float cov[VARS][VARS])
{
    float mu[VARS];
    for (int v = 0; v < VARS; v++) {
        mu[v] = 0.f;
        for (int o = 0; o < OBS; o++)
            mu[v] += x[o][v];
        mu[v] /= OBS;
    }
    for (int a = 0; a < VARS; a++)
        for (int b = a; b < VARS; b++) {
            float s = 0.f;
            for (int o = 0; o < OBS; o++)
                s += (x[o][a] - mu[a]) * (x[o][b] - mu[b]);
            cov[a][b] = cov[b][a] = s / (OBS - 1);
        }
}
