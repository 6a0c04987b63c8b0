/* Hamming (7,4): corrects a bit and packs the nibbles. Returns how many were corrected. */
int hamming_decode(const unsigned char code[48], unsigned char nibble[48])
{
    int corrected = 0;
    for (int i = 0; i < 48; i++) {
        unsigned c = code[i] & 0x7f;
        unsigned b1 = c & 1, b2 = c >> 1 & 1, b3 = c >> 2 & 1, b4 = c >> 3 & 1;
        unsigned b5 = c >> 4 & 1, b6 = c >> 5 & 1, b7 = c >> 6 & 1;
        unsigned syndrome = (b1 ^ b3 ^ b5 ^ b7) | (b2 ^ b3 ^ b6 ^ b7) << 1 | (b4 ^ b5 ^ b6 ^ b7) << 2;
        if (syndrome) {
            c ^= 1u << (syndrome - 1);
            corrected++;
        }
        nibble[i] = (unsigned char)((c >> 2 & 1) | (c >> 3 & 0xe));
    }
    return corrected;
}
