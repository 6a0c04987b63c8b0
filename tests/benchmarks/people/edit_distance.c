#include <string.h>

#define MIN3(a, b, c) ((a) < (b) ? ((a) < (c) ? (a) : (c)) : ((b) < (c) ? (b) : (c)))

int levenshtein(const char *s, const char *t)
{
    int ls = (int)strlen(s), lt = (int)strlen(t);
    int column[33];
    if (ls > 32)
        ls = 32;
    for (int y = 1; y <= ls; y++)
        column[y] = y;
    for (int x = 1; x <= lt; x++) {
        column[0] = x;
        for (int y = 1, last = x - 1; y <= ls; y++) {
            int old = column[y];
            column[y] = MIN3(column[y] + 1, column[y - 1] + 1, last + (s[y - 1] == t[x - 1] ? 0 : 1));
            last = old;
        }
    }
    return column[ls];
}
