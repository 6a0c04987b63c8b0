#include <stdint.h>
/* Unsigned LEB128 values out of a byte buffer. */
int leb128(const uint8_t buf[72], uint32_t value[72])
{
    int i = 0, n = 0;
    while (i < 72) {
        uint32_t v = 0;
        int shift = 0;
        uint8_t byte;
        do {
            byte = buf[i++];
            if (shift < 32)
                v |= (uint32_t)(byte & 0x7f) << shift;
            shift += 7;
        } while ((byte & 0x80) && i < 72);
        value[n++] = v;
    }
    return n;
}
