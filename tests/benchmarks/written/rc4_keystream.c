/* RC4 with a reduced state of 64 entries. */
typedef unsigned char byte;

void rc4_keystream(const byte key[8], byte out[48])
{
    byte s[64];
    int j = 0;
    for (int i = 0; i < 64; i++)
        s[i] = (byte)i;
    for (int i = 0; i < 64; i++) {
        j = (j + s[i] + key[i & 7]) & 63;
        byte t = s[i];
        s[i] = s[j];
        s[j] = t;
    }
    int x = 0, y = 0;
    for (int n = 0; n < 48; n++) {
        x = (x + 1) & 63;
        y = (y + s[x]) & 63;
        byte t = s[x];
        s[x] = s[y];
        s[y] = t;
        out[n] = s[(s[x] + s[y]) & 63];
    }
}
