#pragma simfoundry range p=1:30
/* Least number of products for a chain of eight matrices. */
int matrix_chain(const int p[9])
{
    int m[8][8];
    for (int i = 0; i < 8; i++)
        m[i][i] = 0;
    for (int len = 2; len <= 8; len++) {
        for (int i = 0; i + len <= 8; i++) {
            int j = i + len - 1;
            int best = 1 << 30;
            for (int k = i; k < j; k++) {
                int c = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1];
                if (c < best)
                    best = c;
            }
            m[i][j] = best;
        }
    }
    return m[0][7];
}
