#include <stdint.h>

#ifndef LIMBS
#define LIMBS 4
#endif
#ifndef EXPBITS
#define EXPBITS 24
#endif

typedef uint32_t limb_t;
typedef uint64_t dlimb_t;

/* -n^-1 mod 2^32, Newton iteration; n odd */
static limb_t neg_inverse(limb_t n)
{
    limb_t x = n;
    int i;
    for (i = 0; i < 4; i++)
        x *= 2u - n * x;
    return 0u - x;
}

static int bn_geq(const limb_t *a, const limb_t *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] > b[i];
    return 1;
}

static limb_t bn_sub(limb_t *r, const limb_t *a, const limb_t *b)
{
    dlimb_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        dlimb_t d = (dlimb_t)a[i] - b[i] - borrow;
        r[i] = (limb_t)d;
        borrow = (d >> 32) & 1;
    }
    return (limb_t)borrow;
}

/* r = a*b/R mod n, coarsely integrated operand scanning */
static void mont_mul(limb_t *r, const limb_t *a, const limb_t *b, const limb_t *n, limb_t n0)
{
    limb_t t[LIMBS + 2] = { 0 };
    for (int i = 0; i < LIMBS; i++) {
        dlimb_t c = 0;
        for (int j = 0; j < LIMBS; j++) {
            c += (dlimb_t)a[j] * b[i] + t[j];
            t[j] = (limb_t)c;
            c >>= 32;
        }
        c += t[LIMBS];
        t[LIMBS] = (limb_t)c;
        t[LIMBS + 1] = (limb_t)(c >> 32);

        limb_t m = t[0] * n0;
        c = ((dlimb_t)m * n[0] + t[0]) >> 32;
        for (int j = 1; j < LIMBS; j++) {
            c += (dlimb_t)m * n[j] + t[j];
            t[j - 1] = (limb_t)c;
            c >>= 32;
        }
        c += t[LIMBS];
        t[LIMBS - 1] = (limb_t)c;
        t[LIMBS] = t[LIMBS + 1] + (limb_t)(c >> 32);
    }
    if (t[LIMBS] || bn_geq(t, n))
        bn_sub(r, t, n);
    else
        for (int i = 0; i < LIMBS; i++)
            r[i] = t[i];
}

/*
 * base^expo mod modulus. The modulus is made odd and its top bit is set here.
 * Return value: 0 on success, -1 when the base is not below the modulus.
 */
int bn_modexp(limb_t result[LIMBS], const limb_t base[LIMBS], const limb_t modulus[LIMBS], uint32_t expo)
{
    limb_t n[LIMBS], one[LIMBS], rr[LIMBS], b[LIMBS], acc[LIMBS], n0;
    int i;

    for (i = 0; i < LIMBS; i++) {
        n[i] = modulus[i];
        one[i] = 0;
        rr[i] = 0;
        result[i] = 0;
    }
    one[0] = 1;
    n[0] |= 1;
    n[LIMBS - 1] |= 0x80000000u;
    if (bn_geq(base, n))
        return -1;
    n0 = neg_inverse(n[0]);

    /* R^2 mod n by doubling, starting at R mod n = R - n */
    bn_sub(rr, rr, n);
    for (i = 0; i < 32 * LIMBS; i++) {
        limb_t top = rr[LIMBS - 1] >> 31;
        for (int j = LIMBS - 1; j > 0; j--)
            rr[j] = rr[j] << 1 | rr[j - 1] >> 31;
        rr[0] <<= 1;
        if (top || bn_geq(rr, n))
            bn_sub(rr, rr, n);
    }
    mont_mul(b, base, rr, n, n0);
    mont_mul(acc, one, rr, n, n0);
    for (i = EXPBITS - 1; i >= 0; i--) {
        mont_mul(acc, acc, acc, n, n0);
        if (expo >> i & 1)
            mont_mul(acc, acc, b, n, n0);
    }
    mont_mul(result, acc, one, n, n0);
    return 0;
}
