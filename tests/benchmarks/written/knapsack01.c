#pragma simfoundry range weight=1:15 value=1:100
int knapsack01(const int weight[16], const int value[16])
{
    int best[48];
    for (int c = 0; c < 48; c++)
        best[c] = 0;
    for (int i = 0; i < 16; i++) {
        for (int c = 47; c >= 0; c--) {
            if (c >= weight[i]) {
                int with = best[c - weight[i]] + value[i];
                if (with > best[c])
                    best[c] = with;
            }
        }
    }
    return best[47];
}
