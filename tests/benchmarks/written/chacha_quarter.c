#include <stdint.h>

#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define QR(a, b, c, d)                  \
    do {                                \
        a += b; d = ROTL(d ^ a, 16);    \
        c += d; b = ROTL(b ^ c, 12);    \
        a += b; d = ROTL(d ^ a, 8);     \
        c += d; b = ROTL(b ^ c, 7);     \
    } while (0)

/* One ChaCha20 block. */
void chacha_quarter(const uint32_t in[16], uint32_t out[16])
{
    uint32_t x[16];
    for (int i = 0; i < 16; i++)
        x[i] = in[i];
    for (int round = 0; round < 10; round++) {
        QR(x[0], x[4], x[8], x[12]);
        QR(x[1], x[5], x[9], x[13]);
        QR(x[2], x[6], x[10], x[14]);
        QR(x[3], x[7], x[11], x[15]);
        QR(x[0], x[5], x[10], x[15]);
        QR(x[1], x[6], x[11], x[12]);
        QR(x[2], x[7], x[8], x[13]);
        QR(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; i++)
        out[i] = x[i] + in[i];
}
