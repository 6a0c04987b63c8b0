#include <stdint.h>
#include <stdio.h>

#ifndef NBYTES
#define NBYTES 160
#endif
#ifndef OUTLEN
#define OUTLEN 16
#endif

#define RATE 9                  /* bytes; capacity 128 bits */
#define L(x, y) A[(x) + 5 * (y)]
#define R8(v, n) ((uint8_t)(((unsigned)(v) << ((n) & 7)) | ((unsigned)(v) >> ((8 - (n)) & 7))))

static const uint8_t RC[18] = {
    0x01, 0x82, 0x8a, 0x00, 0x8b, 0x01, 0x81, 0x09, 0x8a,
    0x88, 0x09, 0x0a, 0x8b, 0x8b, 0x89, 0x03, 0x02, 0x80
};

/* the 200 bit permutation: lanes of one byte, fits a small MCU */
static void f200(uint8_t A[25])
{
    for (int ir = 0; ir < 18; ++ir) {
        uint8_t C[5], t;
        int x, y;

        for (x = 0; x < 5; ++x)                                      /* theta */
            C[x] = L(x, 0) ^ L(x, 1) ^ L(x, 2) ^ L(x, 3) ^ L(x, 4);
        for (x = 0; x < 5; ++x) {
            t = C[(x + 4) % 5] ^ R8(C[(x + 1) % 5], 1);
            for (y = 0; y < 5; ++y) L(x, y) ^= t;
        }
        t = L(1, 0);                                                 /* rho, pi */
        x = 1; y = 0;
        for (int k = 0; k < 24; ++k) {
            int r = ((k + 1) * (k + 2) / 2) & 7;
            int ny = (2 * x + 3 * y) % 5;
            uint8_t u;
            x = y; y = ny;
            u = L(x, y);
            L(x, y) = R8(t, r);
            t = u;
        }
        for (y = 0; y < 5; ++y) {                                    /* chi */
            for (x = 0; x < 5; ++x) C[x] = L(x, y);
            for (x = 0; x < 5; ++x) L(x, y) = C[x] ^ ((uint8_t)~C[(x + 1) % 5] & C[(x + 2) % 5]);
        }
        L(0, 0) ^= RC[ir];
    }
}

void sponge200(const uint8_t *msg, unsigned len, uint8_t *out)
{
    uint8_t A[25] = {0};
    unsigned pos = 0;

    if (len > NBYTES) len = NBYTES;
    while (len--) {
        A[pos++] ^= *msg++;
        if (pos == RATE) { f200(A); pos = 0; }
    }
    A[pos] ^= 0x06;
    A[RATE - 1] ^= 0x80;
    f200(A);
    for (unsigned n = 0, p = 0; n < OUTLEN; ++n) {
        if (p == RATE) { f200(A); p = 0; }
        out[n] = A[p++];
    }
}


int main(void)
{
    uint8_t m[NBYTES] = "abc", d[OUTLEN];
    sponge200(m, 3, d);
    for (int i = 0; i < OUTLEN; ++i) printf("%02x", d[i]);
    putchar('\n');
    return 0;
}
