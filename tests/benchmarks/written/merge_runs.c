#pragma simfoundry range left=0:1000 right=0:1000
/* Merge of two runs that are made ascending first by prefix sums. */
void merge_runs(const int left[32], const int right[32], int out[64])
{
    int a[32], b[32], sl = 0, sr = 0;
    for (int i = 0; i < 32; i++) {
        sl += left[i];
        sr += right[i];
        a[i] = sl;
        b[i] = sr;
    }
    int i = 0, j = 0, n = 0;
    while (i < 32 && j < 32)
        out[n++] = a[i] <= b[j] ? a[i++] : b[j++];
    while (i < 32)
        out[n++] = a[i++];
    while (j < 32)
        out[n++] = b[j++];
}
