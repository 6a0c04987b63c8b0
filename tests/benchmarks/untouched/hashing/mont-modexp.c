#include <stdint.h>
#include <string.h>

#ifndef LIMBS
#define LIMBS 4
#endif
#ifndef EXP_WORDS
#define EXP_WORDS 2
#endif

typedef uint32_t limb;
typedef uint64_t dlimb;
typedef limb num[LIMBS];

/* -1/n0 mod 2^32 by Newton; n0 is odd */
static limb neg_inverse(limb n0)
{
	limb x = 1;
	for (int i = 0; i < 5; i++)
		x *= 2u - n0 * x;
	return 0u - x;
}

static int geq(const limb *a, const limb *b)
{
	for (int i = LIMBS - 1; i >= 0; i--)
		if (a[i] != b[i])
			return a[i] > b[i];
	return 1;
}

static void sub_in_place(limb *a, const limb *b)
{
	limb borrow = 0;
	for (int i = 0; i < LIMBS; i++) {
		dlimb d = (dlimb)a[i] - b[i] - borrow;
		a[i] = (limb)d;
		borrow = (limb)(d >> 32) & 1;
	}
}

/* r = a * b / 2^(32*LIMBS) mod n, r may be a or b */
static void mont_mul(limb *r, const limb *a, const limb *b, const limb *n, limb n0inv)
{
	limb t[LIMBS + 2] = { 0 };

	for (int i = 0; i < LIMBS; i++) {
		dlimb s, c = 0;
		for (int j = 0; j < LIMBS; j++) {
			s = (dlimb)a[j] * b[i] + t[j] + c;
			t[j] = (limb)s;
			c = s >> 32;
		}
		s = t[LIMBS] + c;
		t[LIMBS] = (limb)s;
		t[LIMBS + 1] = (limb)(s >> 32);

		limb m = t[0] * n0inv;
		c = ((dlimb)m * n[0] + t[0]) >> 32;
		for (int j = 1; j < LIMBS; j++) {
			s = (dlimb)m * n[j] + t[j] + c;
			t[j - 1] = (limb)s;
			c = s >> 32;
		}
		s = t[LIMBS] + c;
		t[LIMBS - 1] = (limb)s;
		t[LIMBS] = t[LIMBS + 1] + (limb)(s >> 32);
	}
	if (t[LIMBS] || geq(t, n))
		sub_in_place(t, n);
	memcpy(r, t, sizeof(num));
}

/*
 * result = base ^ expo mod modulus, numbers little endian in 32-bit limbs.
 * The modulus is made odd and full-length, the base is cut below it: the
 * caller is expected to obey that anyway.
 */
void mont_modexp(const uint32_t *base, const uint32_t *expo, const uint32_t *modulus, uint32_t *result)
{
	num n, x, acc, one, rr;
	int seen = 0;

	memcpy(n, modulus, sizeof n);
	n[0] |= 1;
	n[LIMBS - 1] |= 0x80000000u;
	memcpy(x, base, sizeof x);
	x[LIMBS - 1] &= 0x7fffffffu;
	limb n0inv = neg_inverse(n[0]);

	/* R mod n is R - n, since n > R/2 */
	memset(acc, 0, sizeof acc);
	sub_in_place(acc, n);

	/* R^2 mod n: double R mod n often enough */
	memcpy(rr, acc, sizeof rr);
	for (int k = 0; k < 32 * LIMBS; k++) {
		limb carry = 0;
		for (int i = 0; i < LIMBS; i++) {
			limb top = rr[i] >> 31;
			rr[i] = rr[i] << 1 | carry;
			carry = top;
		}
		if (carry || geq(rr, n))
			sub_in_place(rr, n);
	}
	mont_mul(x, x, rr, n, n0inv);

	for (int w = EXP_WORDS - 1; w >= 0; w--)
		for (int b = 31; b >= 0; b--) {
			if (seen)
				mont_mul(acc, acc, acc, n, n0inv);
			if (expo[w] >> b & 1) {
				mont_mul(acc, acc, x, n, n0inv);
				seen = 1;
			}
		}

	memset(one, 0, sizeof one);
	one[0] = 1;
	mont_mul(result, acc, one, n, n0inv);
}
