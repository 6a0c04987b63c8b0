#ifndef CHARS
#define CHARS 1000
#endif

typedef unsigned char byte;

/* 64: skip, 65: padding, 66: not allowed */
static int sextet(byte c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    switch (c) {
        case '+': case '-': return 62;
        case '/': case '_': return 63;
        case '=':           return 65;
        case ' ': case '\t': case '\r': case '\n': case '.': case ':': return 64;
        default:            return 66;
    }
}

static unsigned crc24(unsigned crc, byte b)
{
    crc ^= (unsigned)b << 16;
    for (int i = 0; i < 8; i++)
        crc = crc & 0x800000u ? (crc << 1 ^ 0x864CFBu) & 0xFFFFFFu : crc << 1;
    return crc;
}

/* Radix-64 decoder with armour checksum; every '=' closes a block.
   Per block: length and CRC-24. Returns the number of blocks; *junk counts others. */
int armor_decode(const byte *in, byte *out, unsigned *blocks, int *junk)
{
    unsigned acc = 0, crc = 0xB704CEu;
    int bits = 0, nblocks = 0, len = 0;
    byte *start = out;

    *junk = 0;
    for (int i = 0; i < CHARS; i++) {
        int v = sextet(in[i]);
        if (v < 64) {
            acc = acc << 6 | (unsigned)v;
            bits += 6;
            if (bits >= 8) {
                bits -= 8;
                *out = (byte)(acc >> bits);
                crc = crc24(crc, *out++);
            }
            acc &= (1u << bits) - 1;
        } else if (v == 65) {
            len = (int)(out - start);
            if (len == 0) continue;
            blocks[2 * nblocks] = (unsigned)len;
            blocks[2 * nblocks + 1] = crc;
            nblocks++;
            start = out;
            acc = 0; bits = 0; crc = 0xB704CEu;
        } else if (v == 66)
            ++*junk;
    }
    return nblocks;
}
