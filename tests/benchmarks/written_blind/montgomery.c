typedef unsigned int u32;
typedef unsigned long long u64;

/* Montgomery products of pairs, modulus 2^31 - 1. */
static u32 redc(u64 t, u32 n, u32 ninv)
{
    u32 m = (u32)t * ninv;
    u64 r = (t + (u64)m * n) >> 32;
    return (u32)(r >= n ? r - n : r);
}

#pragma simfoundry range a=0:2147483647 b=0:2147483647
void montgomery(const u32 a[20], const u32 b[20], u32 product[20])
{
    const u32 n = 2147483647u;
    u32 inv = 1;
    for (int i = 0; i < 5; i++)
        inv *= 2 - n * inv;
    for (int i = 0; i < 20; i++)
        product[i] = redc((u64)a[i] * b[i], n, 0u - inv);
}
