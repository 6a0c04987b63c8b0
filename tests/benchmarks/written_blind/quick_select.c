/* The k-th smallest of 61 samples, by Hoare's selection. */
#pragma simfoundry range x=0:4096 k=0:61
unsigned short quick_select(unsigned short x[61], int k)
{
    int left = 0, right = 60;
    while (left < right) {
        unsigned short p = x[k];
        int i = left, j = right;
        do {
            while (x[i] < p) i++;
            while (p < x[j]) j--;
            if (i <= j) {
                unsigned short t = x[i];
                x[i] = x[j];
                x[j] = t;
                i++;
                j--;
            }
        } while (i <= j);
        if (j < k) left = i;
        if (k < i) right = j;
    }
    return x[k];
}
