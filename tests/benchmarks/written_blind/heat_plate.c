#define NX 10
#define NY 10
/* Explicit diffusion with a hot edge; two buffers in turn. */
#pragma simfoundry range t=0.0:100.0
void heat_plate(double t[NX][NY])
{
    double next[NX][NY];
    for (int step = 0; step < 4; step++) {
        for (int i = 1; i < NX - 1; i++)
            for (int j = 1; j < NY - 1; j++)
                next[i][j] = t[i][j] + 0.1 * (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1] - 4.0 * t[i][j]);
        for (int i = 1; i < NX - 1; i++)
            for (int j = 1; j < NY - 1; j++)
                t[i][j] = next[i][j];
    }
}
