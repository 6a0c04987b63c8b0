#include <stdint.h>

#ifndef NAMES
#define NAMES 40
#endif
#ifndef WIDTH
#define WIDTH 10
#endif

/* File names sorted as people expect: a9 < a10, leading zeros break ties.
   Raw codes are mapped to a small alphabet first so that names look like names. */
static const char alphabet[16] = "abB01290_-1a3.07";

static int digit_run(const char *s)
{
    int n = 0;
    while (s[n] >= '0' && s[n] <= '9') n++;
    return n;
}

static int natcmp(const char *a, const char *b)
{
    int tie = 0;
    while (*a && *b) {
        int la = digit_run(a), lb = digit_run(b);
        if (la && lb) {
            int za = 0, zb = 0;
            while (za < la - 1 && a[za] == '0') za++;
            while (zb < lb - 1 && b[zb] == '0') zb++;
            if (la - za != lb - zb) return (la - za) - (lb - zb);
            for (int i = 0; i < la - za; i++)
                if (a[za + i] != b[zb + i]) return a[za + i] - b[zb + i];
            if (!tie) tie = za - zb;
            a += la; b += lb;
            continue;
        }
        int ca = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a;
        int cb = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
        if (ca != cb) return ca - cb;
        if (!tie) tie = *a - *b;
        a++; b++;
    }
    if (*a || *b) return *a ? 1 : -1;
    return tie;
}

void sort_names(const uint8_t *codes, char names[NAMES][WIDTH + 1], uint8_t order[NAMES])
{
    for (int i = 0; i < NAMES; i++) {
        for (int j = 0; j < WIDTH; j++)
            names[i][j] = codes[i * WIDTH + j] < 240 ? alphabet[codes[i * WIDTH + j] & 15] : '\0';
        names[i][WIDTH] = '\0';
        order[i] = (uint8_t)i;
    }
    /* shell sort, Ciura's gaps */
    static const int gaps[] = { 57, 23, 10, 4, 1 };
    for (int g = 0; g < 5; g++)
        for (int i = gaps[g]; i < NAMES; i++) {
            uint8_t x = order[i];
            int j = i;
            while (j >= gaps[g] && natcmp(names[order[j - gaps[g]]], names[x]) > 0) {
                order[j] = order[j - gaps[g]];
                j -= gaps[g];
            }
            order[j] = x;
        }
}
