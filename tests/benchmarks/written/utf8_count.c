/* Code points in a buffer of UTF-8; malformed bytes count as one each. */
int utf8_count(const unsigned char s[96], int *bad)
{
    int n = 0, wrong = 0, i = 0;
    while (i < 96) {
        unsigned char c = s[i];
        int more = c < 0x80 ? 0 : (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : -1;
        if (more < 0) {
            wrong++;
            more = 0;
        }
        i++;
        while (more > 0 && i < 96 && (s[i] & 0xc0) == 0x80) {
            i++;
            more--;
        }
        n++;
    }
    *bad = wrong;
    return n;
}
