unsigned parity_words(const unsigned w[16])
{
    unsigned x = 0;
    for (int i = 0; i < 16; i++)
        x ^= w[i];
    x ^= x >> 16, x ^= x >> 8, x ^= x >> 4;
    return 0x6996 >> (x & 15) & 1;
}
