/* CRC-16/CCITT without a table. */
unsigned short crc16_bitwise(const unsigned char msg[64])
{
    unsigned crc = 0xffff;
    for (int i = 0; i < 64; i++) {
        crc ^= (unsigned)msg[i] << 8;
        for (int b = 0; b < 8; b++)
            crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
        crc &= 0xffff;
    }
    return (unsigned short)crc;
}
