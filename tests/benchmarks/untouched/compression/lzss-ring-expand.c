// Expander for a small LZSS dialect with a ring as window.
//
// A control byte announces eight items, most significant bit first:
//   0  one literal byte
//   1  two bytes, big endian: 11 bits distance - 1, 5 bits length - 2
// The window starts as zeros, so every stream is a legal stream.

#include <stdint.h>
#include <stdbool.h>

#ifndef IN_LEN
#define IN_LEN 500
#endif
#ifndef OUT_CAP
#define OUT_CAP 4000
#endif

#define WINDOW 2048u

typedef struct
{
    uint8_t  cell[WINDOW];
    unsigned head;
    uint8_t *out;
    int32_t  room;
    uint32_t a, b;      // Adler sums
} Sink;

static Sink sink;

static bool emit(uint8_t c)
{
    if (sink.room == 0)
        return false;
    --sink.room;
    *sink.out++ = c;
    sink.cell[sink.head] = c;
    sink.head = (sink.head + 1) % WINDOW;
    sink.a = (sink.a + c) % 65521u;
    sink.b = (sink.b + sink.a) % 65521u;
    return true;
}

// Returns the number of bytes written; *adler is the checksum over them.
int32_t lzss_ring_expand(const uint8_t *in, uint8_t *out, uint32_t *adler)
{
    const uint8_t *const end = in + IN_LEN;
    uint8_t control = 0;
    int items = 0;

    for (unsigned i = 0; i < WINDOW; ++i)
        sink.cell[i] = 0;
    sink.head = 0;
    sink.out = out;
    sink.room = OUT_CAP;
    sink.a = 1;
    sink.b = 0;

    while (in < end)
    {
        if (items == 0)
        {
            control = *in++;
            items = 8;
            continue;
        }
        bool reference = (control & 0x80) != 0;
        control = (uint8_t)(control << 1);
        --items;

        if (!reference)
        {
            if (!emit(*in++))
                goto full;
            continue;
        }
        if (end - in < 2)
            break;                       // cut off in the middle of an item
        unsigned item = (unsigned)in[0] << 8 | in[1];
        in += 2;
        unsigned from = (sink.head + WINDOW - 1 - (item >> 5)) % WINDOW;
        for (unsigned n = (item & 31) + 2; n > 0; --n)
        {
            if (!emit(sink.cell[from]))
                goto full;
            from = (from + 1) % WINDOW;
        }
    }
full:
    *adler = sink.b << 16 | sink.a;
    return OUT_CAP - sink.room;
}
