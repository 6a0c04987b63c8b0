#include <stdint.h>

#ifndef LEN
#define LEN 64u   // power of two
#endif

#define P 998244353u      // 119 * 2^23 + 1
#define GEN 3u

typedef uint32_t u32;
typedef uint64_t u64;

static inline u32 add(u32 a, u32 b) { u32 s = a + b; return s >= P ? s - P : s; }
static inline u32 sub(u32 a, u32 b) { return a >= b ? a - b : a + P - b; }
static inline u32 mul(u32 a, u32 b) { return (u32)((u64)a * b % P); }

static u32 power(u32 base, u32 e)
{
    u32 r = 1;
    for (; e; e >>= 1, base = mul(base, base))
        if (e & 1) r = mul(r, base);
    return r;
}

// decimation in frequency: natural order in, bit reversed out
static void forward(u32 *a)
{
    for (u32 half = LEN / 2; half; half >>= 1) {
        const u32 w1 = power(GEN, (P - 1) / (2 * half));
        for (u32 base = 0; base < LEN; base += 2 * half) {
            u32 w = 1;
            for (u32 j = base; j < base + half; j++) {
                u32 u = a[j], v = a[j + half];
                a[j] = add(u, v);
                a[j + half] = mul(sub(u, v), w);
                w = mul(w, w1);
            }
        }
    }
}

// decimation in time: bit reversed in, natural order out
static void inverse(u32 *a)
{
    for (u32 half = 1; half < LEN; half <<= 1) {
        const u32 w1 = power(GEN, P - 1 - (P - 1) / (2 * half));
        for (u32 base = 0; base < LEN; base += 2 * half) {
            u32 w = 1;
            for (u32 j = base; j < base + half; j++) {
                u32 u = a[j], v = mul(a[j + half], w);
                a[j] = add(u, v);
                a[j + half] = sub(u, v);
                w = mul(w, w1);
            }
        }
    }
    const u32 scale = power(LEN, P - 2);
    for (u32 j = 0; j < LEN; j++)
        a[j] = mul(a[j], scale);
}

// f <- f * g (cyclic, mod P); g is destroyed
void ntt_convolve(u32 f[LEN], u32 g[LEN])
{
    forward(f);
    forward(g);
    for (u32 j = 0; j < LEN; j++)
        f[j] = mul(f[j], g[j]);
    inverse(f);
}
