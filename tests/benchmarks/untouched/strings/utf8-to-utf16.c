#include <stdint.h>
#include <stddef.h>

#ifndef BYTES
#define BYTES 512
#endif

#define REPLACEMENT 0xFFFDu

/*
 * Converts UTF-8 to UTF-16. Ill-formed input never stops the conversion: the
 * longest beginning of a sequence that could still have become valid counts
 * as one error and gives one U+FFFD, as the Unicode standard recommends.
 * Returns the number of 16 bit units, which is never more than BYTES.
 */
size_t utf8_to_utf16(const uint8_t in[BYTES], uint16_t out[BYTES], uint32_t *errors)
{
    const uint8_t *p = in, *const end = in + BYTES;
    uint16_t *o = out;

    *errors = 0;
    while (p < end) {
        const uint8_t lead = *p++;
        uint8_t low = 0x80, high = 0xBF;    /* bounds of the next byte */
        uint32_t code;
        int more;

        if (lead < 0x80) {
            *o++ = lead;
            continue;
        }
        if (lead >= 0xC2 && lead <= 0xDF) {
            more = 1;
            code = lead & 0x1Fu;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            more = 2;
            code = lead & 0x0Fu;
            if (lead == 0xE0)
                low = 0xA0;                 /* overlong */
            else if (lead == 0xED)
                high = 0x9F;                /* surrogates */
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            more = 3;
            code = lead & 0x07u;
            if (lead == 0xF0)
                low = 0x90;
            else if (lead == 0xF4)
                high = 0x8F;                /* above U+10FFFF */
        } else {
            goto bad;                       /* stray continuation, C0, C1, F5.. */
        }

        while (more > 0) {
            if (p == end || *p < low || *p > high)
                goto bad;
            code = code << 6 | (*p++ & 0x3Fu);
            low = 0x80;
            high = 0xBF;
            more--;
        }
        if (code >= 0x10000u) {
            code -= 0x10000u;
            *o++ = (uint16_t)(0xD800u | code >> 10);
            *o++ = (uint16_t)(0xDC00u | (code & 0x3FFu));
        } else {
            *o++ = (uint16_t)code;
        }
        continue;
bad:
        *o++ = REPLACEMENT;
        ++*errors;
    }

    const size_t units = (size_t)(o - out);
    while (o < out + BYTES)
        *o++ = 0;
    return units;
}
