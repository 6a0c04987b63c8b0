/* Keeps the 15 smallest of a stream in a max-heap. */
#define K 15

void heap_push_pop(const int stream[80], int best[K])
{
    int heap[K];
    for (int i = 0; i < K; i++)
        heap[i] = 0x7fffffff;

    for (int n = 0; n < 80; n++) {
        int v = stream[n];
        if (v >= heap[0])
            continue;
        int at = 0;
        for (;;) {
            int c = 2 * at + 1;
            if (c >= K)
                break;
            if (c + 1 < K && heap[c + 1] > heap[c])
                c++;
            if (heap[c] <= v)
                break;
            heap[at] = heap[c];
            at = c;
        }
        heap[at] = v;
    }
    for (int i = 0; i < K; i++)
        best[i] = heap[i];
}
