#include <ctype.h>
#include <string.h>

static const char *const letters[26] = {
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
    "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--", "--..",
};

int to_morse(const char text[16], char out[100])
{
    int n = 0;
    for (int i = 0; i < 16 && text[i]; i++) {
        int c = toupper((unsigned char)text[i]);
        if (c < 'A' || c > 'Z')
            continue;
        const char *code = letters[c - 'A'];
        while (*code)
            out[n++] = *code++;
        out[n++] = ' ';
    }
    out[n] = '\0';
    return n;
}
