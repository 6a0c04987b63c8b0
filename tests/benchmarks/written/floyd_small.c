#pragma simfoundry range d=1:100
void floyd_small(int d[10][10])
{
    for (int k = 0; k < 10; k++)
        for (int i = 0; i < 10; i++) {
            int ik = d[i][k];
            for (int j = 0; j < 10; j++) {
                int through = ik + d[k][j];
                if (through < d[i][j])
                    d[i][j] = through;
            }
        }
}
