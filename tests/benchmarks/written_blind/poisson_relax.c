/* Successive over-relaxation on 8 by 8 until the largest change is small; returns the sweeps. */
#pragma simfoundry range rhs=-1.0:1.0
int poisson_relax(const float rhs[8][8], float u[8][8])
{
    int sweeps = 0;
    float change;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            u[i][j] = 0.0f;
    do {
        change = 0.0f;
        for (int i = 1; i < 7; i++)
            for (int j = 1; j < 7; j++) {
                float r = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - rhs[i][j]) - u[i][j];
                u[i][j] += 1.4f * r;
                float m = r < 0.0f ? -r : r;
                if (m > change)
                    change = m;
            }
        sweeps++;
    } while (change > 0.005f && sweeps < 60);
    return sweeps;
}
