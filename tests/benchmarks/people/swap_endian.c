#include <stdint.h>
#include <string.h>

static uint32_t load_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void store_be32(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)(v >> 24);
    b[1] = (uint8_t)(v >> 16);
    b[2] = (uint8_t)(v >> 8);
    b[3] = (uint8_t)v;
}

void swap_endian(const uint8_t in[64], uint8_t out[64])
{
    for (int i = 0; i < 64; i += 4)
        store_be32(out + i, load_le32(in + i));
}
