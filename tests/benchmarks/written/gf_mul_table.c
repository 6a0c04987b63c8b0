/* GF(256) products of two vectors, Russian peasant, polynomial 0x11b. */
void gf_mul_table(const unsigned char a[48], const unsigned char b[48], unsigned char c[48])
{
    for (int i = 0; i < 48; i++) {
        unsigned char x = a[i], y = b[i], p = 0;
        for (int k = 0; k < 8; k++) {
            if (y & 1)
                p ^= x;
            unsigned char carry = x & 0x80;
            x <<= 1;
            if (carry)
                x ^= 0x1b;
            y >>= 1;
        }
        c[i] = p;
    }
}
