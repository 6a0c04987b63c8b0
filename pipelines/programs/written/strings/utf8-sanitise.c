#include <stdint.h>
#include <stddef.h>
#ifndef BYTES
#define BYTES 800
#endif

#define REPLACEMENT 0xFFFDu

enum u8state { S_START, S_TAIL1, S_TAIL2, S_TAIL3, S_E0, S_ED, S_F0, S_F4 };

/*
 * Decode UTF-8 to code points; ill-formed parts turn to U+FFFD, one per maximal
 * subpart (as in the Unicode standard). Returns code points written.
 */
size_t utf8_sanitise(const uint8_t *src, uint32_t *dst, size_t *bad)
{
    const uint8_t *end = src + BYTES;
    uint32_t *out = dst;
    uint32_t cp = 0;
    enum u8state st = S_START;

    *bad = 0;
    while (src < end) {
        uint8_t b = *src;
        uint8_t lo = 0x80, hi = 0xBF;

        switch (st) {
        case S_START:
            src++;
            if (b < 0x80) { *out++ = b; break; }
            if (b >= 0xC2 && b <= 0xDF) { cp = b & 0x1Fu; st = S_TAIL1; break; }
            if (b == 0xE0) { cp = 0; st = S_E0; break; }
            if (b == 0xED) { cp = 13; st = S_ED; break; }
            if ((b & 0xF0) == 0xE0) { cp = b & 0x0Fu; st = S_TAIL2; break; }
            if (b == 0xF0) { cp = 0; st = S_F0; break; }
            if (b == 0xF4) { cp = 4; st = S_F4; break; }
            if (b > 0xF0 && b < 0xF4) { cp = b & 7u; st = S_TAIL3; break; }
            *out++ = REPLACEMENT;
            ++*bad;
            break;
        case S_E0: lo = 0xA0; goto tail;
        case S_ED: hi = 0x9F; goto tail;
        case S_F0: lo = 0x90; goto tail;
        case S_F4: hi = 0x8F; goto tail;
        case S_TAIL1:
        case S_TAIL2:
        case S_TAIL3:
        tail:
            if (b < lo || b > hi) {          /* byte is looked at again from the start */
                *out++ = REPLACEMENT;
                ++*bad;
                st = S_START;
                break;
            }
            src++;
            cp = cp << 6 | (b & 0x3Fu);
            if (st == S_TAIL1) { *out++ = cp; st = S_START; }
            else if (st == S_TAIL2 || st == S_E0 || st == S_ED) st = S_TAIL1;
            else st = S_TAIL2;
            break;
        }
    }
    if (st != S_START) {
        *out++ = REPLACEMENT;
        ++*bad;
    }
    return (size_t)(out - dst);
}
