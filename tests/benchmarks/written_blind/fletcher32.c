unsigned fletcher32(const unsigned short *data, int words)
{
    unsigned a = 0xffff, b = 0xffff;
    while (words > 0) {
        int block = words > 32 ? 32 : words;
        words -= block;
        do {
            a += *data++;
            b += a;
        } while (--block);
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}
