#include <stdint.h>
#define OUT 256
/* LZSS: a flag byte, then eight items of a literal or of offset and length. Returns the bytes written. */
int lzss_expand(const uint8_t in[64], uint8_t out[OUT])
{
    int ip = 0, op = 0;
    while (ip < 47) {
        unsigned flags = in[ip++];
        for (int k = 0; k < 8 && ip < 62; k++) {
            if (flags & 1) {
                if (op < OUT)
                    out[op++] = in[ip];
                ip++;
            } else {
                int offset = (in[ip] & 63) + 1;
                int length = (in[ip + 1] & 7) + 2;
                ip += 2;
                while (length-- > 0 && op < OUT) {
                    out[op] = op >= offset ? out[op - offset] : 0;
                    op++;
                }
            }
            flags >>= 1;
        }
    }
    return op;
}
