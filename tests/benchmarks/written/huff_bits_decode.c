/* Decodes symbols of a fixed prefix code from a bit stream: 0, 10, 110, 111xx. */
int huff_bits_decode(const unsigned char bits[16], unsigned char sym[64])
{
    int pos = 0, n = 0;
    while (pos < 120 && n < 64) {
        int ones = 0;
        while (ones < 3 && (bits[pos >> 3] >> (pos & 7) & 1)) {
            ones++;
            pos++;
        }
        if (ones < 3) {
            pos++;
            sym[n++] = (unsigned char)ones;
        } else {
            int a = bits[pos >> 3] >> (pos & 7) & 1;
            pos++;
            int b = bits[pos >> 3] >> (pos & 7) & 1;
            pos++;
            sym[n++] = (unsigned char)(3 + 2 * a + b);
        }
    }
    return n;
}
