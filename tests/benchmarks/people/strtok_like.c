#include <string.h>
#include <stdio.h>

static const char *skip(const char *s, char c)
{
    while (*s == c)
        s++;
    return s;
}

static int field(const char **cursor, char *out, int max)
{
    int n = 0;
    const char *s = skip(*cursor, ',');
    while (*s && *s != ',' && n < max - 1)
        out[n++] = *s++;
    out[n] = 0;
    *cursor = s;
    return n;
}

int longest_field(const char line[80])
{
    const char *cursor = line;
    char word[16];
    int best = 0, n;
    while ((n = field(&cursor, word, sizeof word)) > 0) {
        if (n > best)
            best = n;
    }
    printf("longest: %d\n", best);
    return best;
}
