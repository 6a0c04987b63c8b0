// Counted loops whose variable an assignment before them computes from itself.
// runs: 20

// case: while behind a compound assignment
// rules: starts-1
int f(int a[16], int out[64])
{
    int at = 0, held = 0;
    for (int i = 0; i < 16; i++) {
        held += a[i] & 7;
        while (held >= 8) {
            out[at] = held;
            at++;
            held -= 8;
        }
    }
    return at * 16 + held;
}

// case: bits of a structure behind a pointer
typedef struct { unsigned char *at; unsigned bits; int count; } writer;
static void put(writer *w, unsigned code, int width)
{
    w->bits |= code << w->count;
    w->count += width;
    while (w->count >= 8) {
        *w->at++ = (unsigned char)w->bits;
        w->bits >>= 8;
        w->count -= 8;
    }
}
int f(unsigned char a[16], unsigned char out[32])
{
    writer w = {out, 0, 0};
    for (int i = 0; i < 16; i++)
        put(&w, a[i] & 31, 5);
    return (int)(w.at - out);
}

// case: count down from a changed number
int f(int n, int out[64])
{
    int k = n & 15, s = 0;
    k += 3;
    while (k--)
        s += out[k];
    k = (n & 7) + 1;
    k *= 2;
    while (--k)
        out[k] ^= s;
    k = n & 31;
    k++;
    while (k-- > 0)
        s += 2;
    return s * 64 + k;
}

// case: for without a first part
int f(int n, int out[64])
{
    int i = n & 3;
    i = i * 2 + 1;
    for (; i < 40; i += 5)
        out[i] += i;
    i -= 35;
    for (i += 1; i < 30; i++)
        out[i] ^= 1;
    return i;
}

// case: the bound reads what the start was computed from
int f(int n, int out[64])
{
    int i = n & 7, end = 20;
    i += end & 3;
    while (i < end) {
        out[i] = i;
        i += 1;
    }
    return i;
}
