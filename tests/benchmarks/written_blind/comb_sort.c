#pragma simfoundry range key=0.0:100.0
int comb_sort(float key[48], int tag[48])
{
    int gap = 48, passes = 0, swapped = 1;
    while (gap > 1 || swapped) {
        gap = gap * 10 / 13;
        if (gap < 1)
            gap = 1;
        swapped = 0;
        for (int i = 0; i + gap < 48; i++)
            if (key[i] > key[i + gap]) {
                float k = key[i];
                int t = tag[i];
                key[i] = key[i + gap];
                tag[i] = tag[i + gap];
                key[i + gap] = k;
                tag[i + gap] = t;
                swapped = 1;
            }
        passes++;
    }
    return passes;
}
