/* CRC-32 (IEEE 802.3) of the first `length` bytes, four bits a step: a table, shifts, a while loop. */
#include <stdint.h>

#ifndef BYTES
#define BYTES 64
#endif

static const uint32_t table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t crc32(uint8_t message[BYTES], int length)
{
    uint32_t crc = ~0u;
    int i = 0;

    while (i < length && i < BYTES) {
        crc ^= message[i++];
        crc = table[crc & 15] ^ crc >> 4;
        crc = table[crc & 15] ^ crc >> 4;
    }
    return ~crc;
}
