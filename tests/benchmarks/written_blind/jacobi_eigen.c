#include <math.h>
#define N 4
/* Eigenvalues of a symmetric matrix by cyclic Jacobi rotations until the rest is small. */
static float off_diagonal(float s[N][N])
{
    float sum = 0.0f;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            sum += s[i][j] * s[i][j];
    return sum;
}

#pragma simfoundry range m=-2.0:2.0
int jacobi_eigen(const float m[N][N], float eig[N])
{
    float s[N][N];
    int sweeps = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s[i][j] = 0.5f * (m[i][j] + m[j][i]);
    while (off_diagonal(s) > 1e-6f && sweeps < 20) {
        for (int p = 0; p < N - 1; p++)
            for (int q = p + 1; q < N; q++) {
                if (fabsf(s[p][q]) < 1e-9f)
                    continue;
                float theta = (s[q][q] - s[p][p]) / (2.0f * s[p][q]);
                float t = 1.0f / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
                if (theta < 0.0f)
                    t = -t;
                float c = 1.0f / sqrtf(t * t + 1.0f), d = t * c;
                for (int k = 0; k < N; k++) {
                    float a = s[k][p], b = s[k][q];
                    s[k][p] = c * a - d * b;
                    s[k][q] = d * a + c * b;
                }
                for (int k = 0; k < N; k++) {
                    float a = s[p][k], b = s[q][k];
                    s[p][k] = c * a - d * b;
                    s[q][k] = d * a + c * b;
                }
            }
        sweeps++;
    }
    for (int i = 0; i < N; i++)
        eig[i] = s[i][i];
    return sweeps;
}
