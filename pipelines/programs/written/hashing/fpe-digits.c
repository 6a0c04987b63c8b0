// Format preserving encryption of card numbers: a balanced Feistel network
// over two halves of eight decimal digits.  The middle six digits are hidden
// on demand.  NOT the NIST construction, only its shape.

#ifndef CARDS
#define CARDS 24
#endif
#ifndef ROUNDS
#define ROUNDS 8
#endif

typedef unsigned long long ull;

#define HALF 100000000ULL

static ull prf(ull x, ull key, int round)
{
    ull v = x * 0x9e3779b97f4a7c15ULL + key + (ull)round;
    for (int k = 0; k < 3; k++) {
        v ^= v >> 29;
        v *= 0xd6e8feb86659fd93ULL;
        v ^= key >> (5 * k);
    }
    return (v ^ v >> 32) % HALF;
}

static ull digits_to_int(const unsigned char *d)
{
    ull v = 0;
    for (int i = 0; i < 8; i++)
        v = v * 10 + d[i];
    return v;
}

static void int_to_digits(ull v, unsigned char *d)
{
    for (int i = 7; i >= 0; i--) {
        d[i] = (unsigned char)(v % 10);
        v /= 10;
    }
}

static int luhn(const unsigned char *d)
{
    int s = 0;
    for (int i = 15; i >= 0; i--) {
        int x = d[i];
        if (!(i & 1)) {
            x += x;
            if (x > 9) x -= 9;
        }
        s += x;
    }
    return s % 10;
}

/* pan: CARDS rows of 16 digits, overwritten. Cycle-walks until the Luhn
   remainder of the result is that of the original; returns all steps taken. */
long fpe_encrypt_pans(unsigned char pan[CARDS][16], ull key)
{
    long steps = 0;

    for (int c = 0; c < CARDS; c++) {
        unsigned char *p = pan[c];
        int want = luhn(p), tries = 0;
        ull l = digits_to_int(p), r = digits_to_int(p + 8);

        do {
            for (int k = 0; k < ROUNDS; k++) {
                ull t = (l + prf(r, key, k)) % HALF;
                l = r;
                r = t;
            }
            int_to_digits(l, p);
            int_to_digits(r, p + 8);
            tries++;
        } while (luhn(p) != want && tries < 200);
        steps += tries;
    }
    return steps;
}
