#pragma simfoundry range text=97:100 word=97:100
/* Positions of a word of five letters, by a rolling hash. */
int rabin_karp(const unsigned char text[128], const unsigned char word[5], unsigned char hit[128])
{
    unsigned want = 0, have = 0, top = 1;
    int found = 0;
    for (int i = 0; i < 5; i++) {
        want = want * 31 + word[i];
        have = have * 31 + text[i];
        if (i)
            top *= 31;
    }
    for (int i = 0; i + 5 <= 128; i++) {
        int same = have == want;
        for (int k = 0; same && k < 5; k++)
            same = text[i + k] == word[k];
        hit[i] = (unsigned char)same;
        found += same;
        if (i + 5 < 128)
            have = (have - text[i] * top) * 31 + text[i + 5];
    }
    return found;
}
