#pragma simfoundry range m=-1.0:1.0
/* Inverts a 5x5 matrix whose diagonal dominates after adding 8. */
#define N 5
void gauss_jordan_float(const float m[N][N], float inv[N][N])
{
    float a[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = m[i][j] + (i == j ? 8.0f : 0.0f);
            inv[i][j] = i == j ? 1.0f : 0.0f;
        }
    for (int c = 0; c < N; c++) {
        float f = 1.0f / a[c][c];
        for (int j = 0; j < N; j++) {
            a[c][j] *= f;
            inv[c][j] *= f;
        }
        for (int r = 0; r < N; r++) {
            if (r == c)
                continue;
            float g = a[r][c];
            for (int j = 0; j < N; j++) {
                a[r][j] -= g * a[c][j];
                inv[r][j] -= g * inv[c][j];
            }
        }
    }
}
