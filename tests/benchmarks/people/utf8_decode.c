#include <stdint.h>
#include <stddef.h>

#define REPLACEMENT 0xFFFD

static const uint8_t *decode(const uint8_t *p, const uint8_t *end, uint32_t *cp)
{
    uint8_t b = *p++;
    int extra;
    if (b < 0x80) {
        *cp = b;
        return p;
    }
    if ((b & 0xe0) == 0xc0)
        extra = 1, *cp = b & 0x1f;
    else if ((b & 0xf0) == 0xe0)
        extra = 2, *cp = b & 0x0f;
    else if ((b & 0xf8) == 0xf0)
        extra = 3, *cp = b & 0x07;
    else {
        *cp = REPLACEMENT;
        return p;
    }
    while (extra-- > 0) {
        if (p == end || (*p & 0xc0) != 0x80) {
            *cp = REPLACEMENT;
            return p;
        }
        *cp = *cp << 6 | (*p++ & 0x3f);
    }
    return p;
}

size_t utf8_to_utf32(const uint8_t in[64], uint32_t out[64])
{
    const uint8_t *p = in, *end = in + 64;
    size_t n = 0;
    while (p < end)
        p = decode(p, end, &out[n++]);
    return n;
}
