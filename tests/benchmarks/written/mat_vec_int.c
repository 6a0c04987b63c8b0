#pragma simfoundry range m=-100:100 v=-100:100
void mat_vec_int(const int m[12][16], const int v[16], int r[12])
{
    for (int i = 0; i < 12; i++) {
        int s = 0;
        for (int j = 0; j < 16; j++)
            s += m[i][j] * v[j];
        r[i] = s;
    }
}
