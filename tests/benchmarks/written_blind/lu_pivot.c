#define N 6
/* LU decomposition with row exchange; perm says where each row came from. Returns 1 when singular. */
static float absolute(float v) { return v < 0.0f ? -v : v; }

#pragma simfoundry range a=-4.0:4.0
int lu_pivot(float a[N][N], int perm[N])
{
    for (int i = 0; i < N; i++)
        perm[i] = i;
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++)
            if (absolute(a[i][k]) > absolute(a[best][k]))
                best = i;
        if (absolute(a[best][k]) < 1e-6f)
            return 1;
        if (best != k) {
            for (int j = 0; j < N; j++) {
                float t = a[k][j];
                a[k][j] = a[best][j];
                a[best][j] = t;
            }
            int t = perm[k];
            perm[k] = perm[best];
            perm[best] = t;
        }
        float inv = 1.0f / a[k][k];
        for (int i = k + 1; i < N; i++) {
            a[i][k] *= inv;
            for (int j = k + 1; j < N; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    }
    return 0;
}
