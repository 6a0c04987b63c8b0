/* Knuth-Morris-Pratt: how often a pattern occurs in a text, and where it first does. */
#ifndef PATTERN
#define PATTERN 4
#endif
#ifndef TEXT
#define TEXT 256
#endif

static void fill_table(const char pattern[PATTERN], int table[PATTERN])
{
    int matched = 0;

    table[0] = 0;
    for (int i = 1; i < PATTERN; i++) {
        while (matched > 0 && pattern[matched] != pattern[i]) {
            matched = table[matched - 1];
        }
        if (pattern[matched] == pattern[i]) {
            matched++;
        }
        table[i] = matched;
    }
}

int kmp(char pattern[PATTERN], char text[TEXT], int place[1])
{
    int table[PATTERN];
    int matched = 0;
    int matches = 0;

    place[0] = -1;
    fill_table(pattern, table);
    for (int i = 0; i < TEXT; i++) {
        while (matched > 0 && pattern[matched] != text[i]) {
            matched = table[matched - 1];
        }
        if (pattern[matched] == text[i]) {
            matched++;
        }
        if (matched >= PATTERN) {
            if (matches++ == 0) {
                place[0] = i - (PATTERN - 1);
            }
            matched = table[matched - 1];
        }
    }
    return matches;
}
