#pragma simfoundry range v=-100000:100000
void shell_sort(int v[40])
{
    static const int gaps[4] = {23, 10, 4, 1};

    for (int g = 0; g < 4; g++) {
        int gap = gaps[g];
        for (int i = gap; i < 40; i++) {
            int key = v[i];
            int j = i;
            while (j >= gap && v[j - gap] > key) {
                v[j] = v[j - gap];
                j -= gap;
            }
            v[j] = key;
        }
    }
}
