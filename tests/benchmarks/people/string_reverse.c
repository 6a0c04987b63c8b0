#include <stddef.h>
#include <string.h>

char *reverse(char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s);
    for (char *a = s, *b = s + n - 1; n && a < b; a++, b--) {
        char c = *a;
        *a = *b;
        *b = c;
    }
    return s;
}

int palindrome(const char word[32])
{
    char copy[32];
    strncpy(copy, word, sizeof copy - 1);
    copy[31] = '\0';
    reverse(copy);
    return strcmp(copy, word) == 0;
}
