#include <stdint.h>
#include <stdio.h>

static uint16_t table[256];
static int ready;

static void make_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint16_t c = (uint16_t)(i << 8);
        for (int k = 0; k < 8; k++)
            c = c & 0x8000 ? (uint16_t)(c << 1) ^ 0x1021 : (uint16_t)(c << 1);
        table[i] = c;
    }
    ready = 1;
}

uint16_t crc16(const uint8_t *data, size_t length)
{
    uint16_t crc = 0xffff;
    if (!ready)
        make_table();
    while (length--)
        crc = (uint16_t)(crc << 8) ^ table[(crc >> 8) ^ *data++];
    return crc;
}

int main(void)
{
    const uint8_t text[] = "123456789";
    printf("%04x\n", crc16(text, 9));
    return 0;
}
