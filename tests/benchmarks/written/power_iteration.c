#pragma simfoundry range a=0.0:1.0
/* Dominant eigenvector of a 6x6 matrix with positive entries, 12 steps. */
float power_iteration(const float a[6][6], float v[6])
{
    float norm = 0.0f;
    for (int i = 0; i < 6; i++)
        v[i] = 1.0f;
    for (int step = 0; step < 12; step++) {
        float w[6];
        norm = 1e-6f;
        for (int i = 0; i < 6; i++) {
            float s = 0.0f;
            for (int j = 0; j < 6; j++)
                s += a[i][j] * v[j];
            w[i] = s;
            if (s > norm)
                norm = s;
        }
        for (int i = 0; i < 6; i++)
            v[i] = w[i] / norm;
    }
    return norm;
}
