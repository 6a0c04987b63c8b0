#define TEXT 160
#define PAT 4
/* Boyer-Moore-Horspool over a small alphabet; positions of matches. */
#pragma simfoundry range text=97:100 pat=97:100
int horspool(const char text[TEXT], const char pat[PAT], short found[TEXT])
{
    unsigned char skip[128];
    int n = 0;
    for (int i = 0; i < 128; i++)
        skip[i] = PAT;
    for (int i = 0; i < PAT - 1; i++)
        skip[pat[i] & 127] = (unsigned char)(PAT - 1 - i);
    int pos = 0;
    while (pos + PAT <= TEXT) {
        int k = PAT - 1;
        while (k >= 0 && text[pos + k] == pat[k])
            k--;
        if (k < 0)
            found[n++] = (short)pos;
        pos += skip[text[pos + PAT - 1] & 127];
    }
    return n;
}
