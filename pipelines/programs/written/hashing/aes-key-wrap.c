#include <stdint.h>

#ifndef NBLK
#define NBLK 4
#endif

/* No tables in flash: the S-box is computed at start, in RAM. */
static uint8_t au8Sbox[256];
static uint8_t au8RoundKey[176];

static uint8_t u8Xtime(uint8_t u8A)
{
    return (uint8_t)((u8A << 1) ^ ((u8A & 0x80u) ? 0x1Bu : 0x00u));
}

static void vBuildSbox(void)
{
    uint8_t u8P = 1u, u8Q = 1u;

    do
    {
        uint8_t u8X;
        /* p := p * 3 */
        u8P = (uint8_t)(u8P ^ u8Xtime(u8P));
        /* q := q / 3 */
        u8Q ^= (uint8_t)(u8Q << 1);
        u8Q ^= (uint8_t)(u8Q << 2);
        u8Q ^= (uint8_t)(u8Q << 4);
        if (u8Q & 0x80u)
        {
            u8Q ^= 0x09u;
        }
        u8X = (uint8_t)(u8Q ^ (uint8_t)((u8Q << 1) | (u8Q >> 7)) ^ (uint8_t)((u8Q << 2) | (u8Q >> 6))
              ^ (uint8_t)((u8Q << 3) | (u8Q >> 5)) ^ (uint8_t)((u8Q << 4) | (u8Q >> 4)));
        au8Sbox[u8P] = (uint8_t)(u8X ^ 0x63u);
    } while (u8P != 1u);
    au8Sbox[0] = 0x63u;
}

static void vExpandKey(const uint8_t *pu8Key)
{
    uint8_t u8Rcon = 1u;
    int i;

    for (i = 0; i < 16; i++)
    {
        au8RoundKey[i] = pu8Key[i];
    }
    for (i = 16; i < 176; i += 4)
    {
        uint8_t a = au8RoundKey[i - 4], b = au8RoundKey[i - 3], c = au8RoundKey[i - 2], d = au8RoundKey[i - 1];
        if ((i & 15) == 0)
        {
            uint8_t t = a;
            a = (uint8_t)(au8Sbox[b] ^ u8Rcon);
            b = au8Sbox[c];
            c = au8Sbox[d];
            d = au8Sbox[t];
            u8Rcon = u8Xtime(u8Rcon);
        }
        au8RoundKey[i + 0] = au8RoundKey[i - 16] ^ a;
        au8RoundKey[i + 1] = au8RoundKey[i - 15] ^ b;
        au8RoundKey[i + 2] = au8RoundKey[i - 14] ^ c;
        au8RoundKey[i + 3] = au8RoundKey[i - 13] ^ d;
    }
}

static void vCipher(uint8_t s[16])
{
    uint8_t t[16];
    int r, i;

    for (i = 0; i < 16; i++) s[i] ^= au8RoundKey[i];
    for (r = 1; r <= 10; r++)
    {
        for (i = 0; i < 16; i++) t[i] = au8Sbox[s[(i * 5) & 15]];   /* SubBytes + ShiftRows */
        for (i = 0; i < 16; i += 4)
        {
            uint8_t x = (uint8_t)(t[i] ^ t[i + 1] ^ t[i + 2] ^ t[i + 3]);
            uint8_t f = t[i];
            if (r == 10) break;
            t[i + 0] ^= x ^ u8Xtime((uint8_t)(t[i] ^ t[i + 1]));
            t[i + 1] ^= x ^ u8Xtime((uint8_t)(t[i + 1] ^ t[i + 2]));
            t[i + 2] ^= x ^ u8Xtime((uint8_t)(t[i + 2] ^ t[i + 3]));
            t[i + 3] ^= x ^ u8Xtime((uint8_t)(t[i + 3] ^ f));
        }
        for (i = 0; i < 16; i++) s[i] = t[i] ^ au8RoundKey[16 * r + i];
    }
}

/* Key wrap after RFC 3394: NBLK 64-bit blocks in R, integrity value to A. */
void vKeyWrap(const uint8_t au8Kek[16], uint8_t R[8 * NBLK], uint8_t A[8])
{
    uint8_t B[16];
    int i, j, k;

    vBuildSbox();
    vExpandKey(au8Kek);
    for (k = 0; k < 8; k++) A[k] = 0xA6u;
    for (j = 0; j < 6; j++)
    {
        for (i = 0; i < NBLK; i++)
        {
            unsigned t = (unsigned)(NBLK * j + i + 1);
            for (k = 0; k < 8; k++)
            {
                B[k] = A[k];
                B[8 + k] = R[8 * i + k];
            }
            vCipher(B);
            for (k = 0; k < 8; k++)
            {
                A[k] = B[k];
                R[8 * i + k] = B[8 + k];
            }
            A[7] ^= (uint8_t)t;
            A[6] ^= (uint8_t)(t >> 8);
        }
    }
}
