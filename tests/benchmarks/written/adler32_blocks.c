#include <stdint.h>

uint32_t adler32_blocks(const uint8_t buf[200])
{
    uint32_t a = 1, b = 0;
    for (int i = 0; i < 200; i++) {
        a += buf[i];
        if (a >= 65521)
            a -= 65521;
        b += a;
        if (b >= 65521)
            b -= 65521;
    }
    return (b << 16) | a;
}
