/* Exact cyclic convolution with the number theoretic transform mod 998244353 (2^23*119+1, g=3) */
#include <stdint.h>

#ifndef N
#define N 64            /* power of two */
#endif

typedef uint32_t u32;
typedef uint64_t u64;

#define P 998244353u
#define MUL(x, y) ((u32)((u64)(x) * (y) % P))

static u32 pow_mod(u32 b, u32 e)
{
    u32 r = 1;
    for (; e; e >>= 1) {
        if (e & 1) r = MUL(r, b);
        b = MUL(b, b);
    }
    return r;
}

/* decimation in frequency; natural in, bit reversed out */
static void dif(u32 *x)
{
    for (u32 half = N / 2; half; half /= 2) {
        u32 w0 = pow_mod(3, (P - 1) / (2 * half));
        for (u32 blk = 0; blk < N; blk += 2 * half) {
            u32 w = 1;
            for (u32 i = blk; i < blk + half; i++) {
                u32 u = x[i], v = x[i + half];
                x[i] = u + v >= P ? u + v - P : u + v;
                x[i + half] = MUL(u + P - v, w);
                w = MUL(w, w0);
            }
        }
    }
}

/* decimation in time; bit reversed in, natural out; inverse roots */
static void dit_inv(u32 *x)
{
    for (u32 half = 1; half < N; half *= 2) {
        u32 w0 = pow_mod(pow_mod(3, (P - 1) / (2 * half)), P - 2);
        for (u32 blk = 0; blk < N; blk += 2 * half) {
            u32 w = 1;
            for (u32 i = blk; i < blk + half; i++) {
                u32 u = x[i], v = MUL(x[i + half], w);
                x[i] = u + v >= P ? u + v - P : u + v;
                x[i + half] = u >= v ? u - v : u + P - v;
                w = MUL(w, w0);
            }
        }
    }
    u32 ninv = pow_mod(N, P - 2);
    for (u32 i = 0; i < N; i++)
        x[i] = MUL(x[i], ninv);
}

void ntt_convolve(u32 *a, u32 *b)
{
    dif(a);
    dif(b);
    for (int i = 0; i < N; i++)
        a[i] = MUL(a[i], b[i]);
    dit_inv(a);
}

int main(void)
{
    static u32 a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = (u32)i;
    b[1] = 1;                       /* rotates by one */
    ntt_convolve(a, b);
    return a[1] == 0 && a[0] == N - 1 ? 0 : 1;
}
