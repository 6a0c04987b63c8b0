#include <stdint.h>

#ifndef NIN
#define NIN 700
#endif
#ifndef NOUT
#define NOUT 3000
#endif

#define RING 1024u
#define RMASK (RING - 1u)

/*
 * LZSS decoder for boot images: flag byte with eight items, LSB first;
 * 1 = literal, 0 = pair (10 bits ring position, 6 bits length - 3).
 * The ring starts out as blanks, its write position as in the encoder.
 */
static uint8_t ring[RING];

int32_t boot_unpack(const uint8_t *restrict in, uint8_t *restrict out, uint16_t *adler_lo, uint16_t *adler_hi)
{
    uint32_t r = RING - 66u, ip = 0, op = 0;
    uint32_t s1 = 1, s2 = 0;
    unsigned flags = 0;

    for (uint32_t i = 0; i < RING; ++i)
        ring[i] = i < r ? 0x20 : 0;

    for (;;) {
        flags >>= 1;
        if (!(flags & 0x100u)) {
            if (ip >= NIN) goto done;
            flags = in[ip++] | 0xff00u;
        }
        if (flags & 1u) {
            if (ip >= NIN) goto done;
            if (op >= NOUT) goto overflow;
            uint8_t c = in[ip++];
            out[op++] = c;
            ring[r] = c;
            r = (r + 1u) & RMASK;
            s1 = (s1 + c) % 65521u;
            s2 = (s2 + s1) % 65521u;
        } else {
            if (ip + 1u >= NIN) goto done;
            uint32_t at = in[ip] | (uint32_t)(in[ip + 1] & 0x03u) << 8;
            uint32_t n = (uint32_t)(in[ip + 1] >> 2) + 3u;
            ip += 2;
            do {
                uint8_t c = ring[at];
                if (op >= NOUT) goto overflow;
                at = (at + 1u) & RMASK;
                out[op++] = c;
                ring[r] = c;
                r = (r + 1u) & RMASK;
                s1 = (s1 + c) % 65521u;
                s2 = (s2 + s1) % 65521u;
            } while (--n);
        }
    }

overflow:
    *adler_lo = (uint16_t)s1;
    *adler_hi = (uint16_t)s2;
    return -1;
done:
    *adler_lo = (uint16_t)s1;
    *adler_hi = (uint16_t)s2;
    return (int32_t)op;
}
