void counting_sort_bytes(const unsigned char in[96], unsigned char out[96])
{
    unsigned char count[16] = {0};
    unsigned char start[16];
    int acc = 0;

    for (int i = 0; i < 96; i++)
        count[in[i] >> 4]++;
    for (int b = 0; b < 16; b++) {
        start[b] = (unsigned char)acc;
        acc += count[b];
    }
    for (int i = 0; i < 96; i++) {
        int b = in[i] >> 4;
        out[start[b]++] = in[i];
    }
}
