/* G.711 mu-law. The segment is found by shifting until the leading bit is there. */
unsigned char compress_one(short pcm)
{
    int mask = 0xff;
    int v = pcm >> 2;
    if (v < 0) {
        v = -v;
        mask = 0x7f;
    }
    if (v > 8159)
        v = 8159;
    v += 33;

    int seg = 0;
    for (int t = v >> 6; t; t >>= 1)
        seg++;
    if (seg >= 8)
        return (unsigned char)(0x7f ^ mask);
    return (unsigned char)(((seg << 4) | ((v >> (seg + 1)) & 0xf)) ^ mask);
}

void mulaw_encode(const short pcm[80], unsigned char code[80])
{
    for (int i = 0; i < 80; i++)
        code[i] = compress_one(pcm[i]);
}
