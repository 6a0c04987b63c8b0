/* Signed numbers as decimal text, separated by blanks; returns the length. */
#pragma simfoundry range value=-100000:100000
int itoa_list(const int value[12], char out[144])
{
    int len = 0;
    for (int i = 0; i < 12; i++) {
        char rev[11];
        int n = 0;
        unsigned v = value[i] < 0 ? 0u - (unsigned)value[i] : (unsigned)value[i];
        do {
            rev[n++] = (char)('0' + v % 10);
            v /= 10;
        } while (v);
        if (value[i] < 0)
            out[len++] = '-';
        while (n)
            out[len++] = rev[--n];
        out[len++] = ' ';
    }
    return len;
}
