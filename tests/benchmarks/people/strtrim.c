#include <ctype.h>
#include <string.h>

size_t trim_copy(const char in[64], char out[64])
{
    const char *start = in;
    const char *end;
    size_t len;

    while (*start && isspace((unsigned char)*start))
        start++;
    end = start + strlen(start);
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    len = (size_t)(end - start);
    memcpy(out, start, len);
    out[len] = '\0';
    return len;
}
