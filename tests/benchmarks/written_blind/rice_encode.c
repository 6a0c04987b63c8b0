/* Rice code of signed residuals with parameter k; bits go into 32-bit words. Returns the bits. */
static unsigned acc;
static int filled, at;

static void put(unsigned bit, unsigned words[64])
{
    acc = (acc << 1) | bit;
    if (++filled == 32) {
        if (at < 64)
            words[at++] = acc;
        filled = 0;
    }
}

#pragma simfoundry range residual=-60:60 k=2:5
int rice_encode(const short residual[40], int k, unsigned words[64])
{
    int total = 0;
    for (int i = 0; i < 40; i++) {
        unsigned u = residual[i] >= 0 ? 2u * residual[i] : -2 * residual[i] - 1u;
        unsigned q = u >> k;
        total += (int)q + 1 + k;
        while (q > 0) {
            put(1, words);
            q--;
        }
        put(0, words);
        for (int b = k - 1; b >= 0; b--)
            put((u >> b) & 1, words);
    }
    return total;
}
