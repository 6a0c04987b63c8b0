/* Scatter of triplets into a dense matrix; returns how many fell outside. */
#pragma simfoundry range row=0:9 col=0:9
int coo_accumulate(const int row[50], const int col[50], const float val[50], float dense[8][8])
{
    int outside = 0;
    for (int e = 0; e < 50; e++) {
        if (row[e] < 0 || row[e] >= 8 || col[e] < 0 || col[e] >= 8) {
            outside++;
            continue;
        }
        dense[row[e]][col[e]] += val[e];
    }
    return outside;
}
