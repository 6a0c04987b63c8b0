static const char digits[] = "0123456789abcdef";

/* "aa bb cc ...\n" lines of eight bytes. */
void hex_lines(const unsigned char data[64], char text[192])
{
    char *p = text;
    for (int i = 0; i < 64; i++) {
        *p++ = digits[data[i] >> 4];
        *p++ = digits[data[i] & 15];
        *p++ = (i & 7) == 7 ? '\n' : ' ';
    }
}
