// The parts of C, each in one program.
// runs: 20

// case: integers
#include <stdint.h>
long f(int8_t a, uint8_t b, int16_t c, uint16_t d, int e, unsigned g, long h, unsigned long k,
       int A[8], long long R[48])
{
    int n = 0;
    signed char s = 120;
    unsigned char u = 250;
    short int t = 32000;
    _Bool truth = e;
    R[n++] = a + b;
    R[n++] = a * c;
    R[n++] = (uint8_t)(b + 200);
    R[n++] = a < g;
    R[n++] = a < b;
    R[n++] = -1 < 1u;
    R[n++] = h < k;
    R[n++] = e - g;
    R[n++] = (long)e - g;
    R[n++] = d << 3;
    R[n++] = (uint16_t)(d << 13);
    R[n++] = a >> 1;
    R[n++] = (uint8_t)a >> 1;
    R[n++] = ~b;
    R[n++] = !b;
    R[n++] = -d;
    R[n++] = +a;
    R[n++] = a / 3 + a % 7;
    R[n++] = k / 3 % 1000;
    R[n++] = b / (a | 1);
    s += 100;
    R[n++] = s;
    u += 100;
    R[n++] = u;
    t *= 3;
    R[n++] = t;
    R[n++] = u++ + ++s;
    R[n++] = s--;
    truth += 5;
    R[n++] = truth;
    truth = 0.5;
    R[n++] = truth + sizeof truth;
    R[n++] = (_Bool)256;
    R[n++] = 1 ? -1 : 0u;
    R[n++] = e > 0 ? a : g;
    R[n++] = 'a' + '\n' + '\x41' + '\101' + '\0' + '\xff';
    R[n++] = 0x80000000 + 010 + 0xFFu + 4294967295 + 0b101;
    R[n++] = 2147483648 - 1;
    R[n++] = sizeof(int) + sizeof(long) + sizeof a + sizeof(a + b) + sizeof A[0] + sizeof 1ull;
    R[n++] = 1ul << 40 | (unsigned)e >> 3;
    R[n++] = e << 3 ^ h >> 2;
    R[n++] = (a & b) | (c ^ d);
    R[n++] = (char)e + (unsigned char)e;
    h <<= 3;
    k >>= (unsigned char)2;
    R[n++] = h + k;
    R[n++] = (int)(h * k);
    g -= 300;
    R[n++] = g;
    c %= 7;
    R[n++] = c;
    return n + (a, b, c);
}

// case: floats
#include <math.h>
double f(float a, double b, int n, unsigned u, long l, unsigned long ul, float X[8], double Y[24])
{
    int i = 0;
    Y[i++] = a + b;
    Y[i++] = a * a - a;
    Y[i++] = a / 3;
    Y[i++] = a / 3.0;
    Y[i++] = a * 0.1f;
    Y[i++] = a * 0.1;
    Y[i++] = n + a;
    Y[i++] = u * b;
    Y[i++] = (float)l;
    Y[i++] = (double)ul + (float)ul;
    Y[i++] = (int)a + (long)b;
    Y[i++] = (unsigned char)(fabsf(a));
    Y[i++] = sqrtf(fabs(a)) + sqrt(fabs(b));
    Y[i++] = (a < b) + (a == a) + (b != b) + !a + (a && b) + (a || 0.0f);
    Y[i++] = a > 0 ? a : n;
    Y[i++] = 1e-45f + 0x1.8p3 + .5 + 3. + 1e3f;
    Y[i++] = -0.0;
    Y[i++] = 16777217.0f;
    Y[i++] = 1.0000000596046448f;
    n += a;
    Y[i++] = n;
    n *= 1.5;
    Y[i++] = n;
    X[0] = b;
    X[1] += b;
    X[2]++;
    --X[3];
    X[4] = X[5] = b / 7;
    X[6] = n ? X[0] : 2;
    X[7] = simfoundry_float_of_bits(simfoundry_bits_of_float(a) ^ 0x80000000u);
    Y[i++] = simfoundry_double_of_bits(simfoundry_bits_of_double(b) + 1);
    return i + expf(a / 16);
}

// case: effects
static int calls;
static int touch(int A[16], int x) { A[x & 15]++; calls++; return x + A[(x + 1) & 15]; }
static int first(int a, int b) { (void)b; return a; }
int f(int n, int A[16], int R[32])
{
    int i = 0, j = 3, k = 0;
    A[i++] = 5;
    A[i++] = A[j--] + i;
    R[k++] = i++ + j;
    R[k++] = (i = 7, i + 1);
    R[k++] = n > 0 && touch(A, n);
    R[k++] = n > 50 || touch(A, 2) > 3 || touch(A, 3) > 1;
    R[k++] = n & 1 ? touch(A, 1) : (A[4] = 9);
    R[k++] = n & 2 ? (i += 2) : j;
    R[k++] = touch(A, touch(A, touch(A, 1)));
    R[k++] = A[2] + touch(A, 2);
    R[k++] = (A[3] = A[5] = n) + 1;
    A[(i++) & 15] += 10;
    A[touch(A, 6) & 15] *= 2;
    R[k++] = first(i++, i > 3 ? i : j);
    while (n-- > 90)
        R[k & 31]++;
    R[k++] = n;
    do {
        R[k & 31] += j;
    } while (j-- && touch(A, j) > 0 && j < 10);
    for (i = 0, j = 10; i < j; i++, j--)
        R[k & 31] += i * j;
    k++;
    for (i = 10; i--;)
        A[i] += i;
    for (; (j = A[i + 1] & 7) > 3 && i < 8; ++i)
        R[k & 31] += j;
    k++;
    R[k++] = !(i = 0) + calls;
    R[k++] = (n < 0 ? -n : n) > 10 ? 1 : A[n & 15]++ ? 2 : 3;
    if ((i = touch(A, 4)) > 4 && i < 100)
        R[k++] = i;
    for (int a = 0; touch(A, a) < 1000 && a < 5; a++) {
        if (a == 2)
            continue;
        R[k & 31] += a;
    }
    return calls + (n, k);
}

// case: control
static int classify(int x)
{
    if (x < 0)
        return -1;
    if (x == 0)
        return 0;
    for (int i = 0; i < 10; i++) {
        if (i * i == x)
            return 100 + i;
        if (i * i > x)
            break;
    }
    return x & 1 ? 1 : 2;
}
static int fall(int x)
{
    int r = 0;
    switch (x) {
        int unused;
    case 0:
        r += 1;
    case 1:
    case 2:
        r += 10;
        break;
    case 3:
        return 33;
    default:
        r += 1000;
    case 4:
        r += 100;
        if (r > 1000)
            break;
        r += 7;
    case 9:
        r++;
    }
    return r;
}
static unsigned char narrow(unsigned char x)
{
    switch (x - 3) {
    case -1: return 4;
    case 'a' - 90: return 5;
    }
    return x;
}
int f(int n, int A[16], int R[64])
{
    int k = 0, i, j;
    for (i = 0; i < 16; i++)
        R[k++] = classify(A[i]);
    for (i = 0; i < 12; i++)
        R[k++] = fall(i) + narrow(i);
    for (i = 0; i < 16; i++) {
        if (A[i] < -50)
            continue;
        for (j = 0; j < 16; j++) {
            if (j == i)
                continue;
            if (A[j] == A[i])
                goto_like: break;
            switch (A[j] & 3) {
            case 0: continue;
            case 1: R[40] += j; break;
            case 2: if (A[i] > 40) break; R[41]++;
            }
            R[42] += i ^ j;
        }
        if (R[42] > 20000)
            break;
    }
    R[43] = i;
    while (1) {
        if (n > 100)
            break;
        n += 7;
        if (n % 3 == 0)
            continue;
        R[44] += n;
        if (R[44] > 10000)
            return n;
    }
    do {
        if (n & 1)
            continue;
        R[45]++;
    } while (--n > 90);
    do
        R[46] = n;
    while (0);
    for (;;) {
        if (n-- < 80)
            break;
    }
    {
        int n = 5;
        R[47] = n;
        { int n = 6; R[48] = n; }
    }
    switch (n) default: R[49] = 1;
    if (n) ; else R[50] = 2;
    for (unsigned char c = 250; c >= 250; c++)
        R[51]++;
    for (i = 0; i < 0; i++)
        R[52]++;
    for (short s = 5; s != 20; s += 5)
        R[53] += s;
    for (unsigned u = 0; u < sizeof(int) * 3; u += 2)
        R[54] += u;
    for (long q = n; q > n - 5; q--)
        R[55] += q;
    for (int b = 1; b < 1000; b <<= 1)
        R[56] += b;
    for (int b = 0; b <= (n & 7); ++b)
        R[57] += b;
    for (unsigned char c = 0; c < (unsigned char)(n & 7); c += 2)
        R[58] += c;
    for (int b = 0; b < (unsigned)(n & 7); b++)
        R[59] += b;
    return k;
}

// case: structs
struct point { int x, y; };
typedef struct { struct point low, high; float w[3]; unsigned char tag; } box;
enum color { RED, GREEN = 5, BLUE };
static struct point add(struct point a, struct point b)
{
    struct point c = {a.x + b.x, a.y + b.y};
    a.x = 100;
    return c;
}
static void grow(box *b, int by) { b->low.x -= by; b->high.y += by; b->w[by & 1] *= 2; (*b).tag++; }
static int area(const box *b) { return (b->high.x - b->low.x) * (b->high.y - b->low.y); }
struct list { int value; struct list *next; };
int f(int n, struct point P[4], int R[32], float W[8])
{
    int k = 0;
    box a = {{1, 2}, {.y = 4, .x = 3}, {0.5f, [2] = 2}}, b;
    box c = {.tag = 7, .low = {9}, 8};
    struct point q[5] = {{1, 2}, 3, 4, [4] = {.y = 6}};
    const struct point origin = {3, -3};
    enum color color = n > 0 ? GREEN : BLUE;
    b = a;
    b.low.x = n;
    grow(&b, 3);
    R[k++] = area(&a) + area(&b) + b.tag;
    R[k++] = a.low.x + b.low.x + c.low.x + c.low.y + c.tag;
    W[0] = b.w[1] + a.w[0] + a.w[2];
    q[2] = add(q[0], q[1]);
    q[3] = add(q[2], P[1]);
    P[0] = q[3];
    P[n & 3].x += q[n & 3].y;
    R[k++] = q[4].x + q[4].y + P[n & 3].x;
    R[k++] = add(origin, (struct point){n, 2}).y;
    R[k++] = color + RED + sizeof(box) + sizeof(struct point);
    struct point *p = &q[1];
    p->x = 77;
    p++;
    p->y += 5;
    R[k++] = q[1].x + q[2].y + (*p).x + p[-1].x;
    struct point t = n & 1 ? q[0] : q[1];
    R[k++] = t.x;
    t = n & 1 ? add(t, t) : t;
    R[k++] = t.y;
    box grid[2][2] = {0};
    grid[n & 1][1].w[2] = 3;
    grid[1][1].high.x = 4;
    grid[0][0] = grid[1][1];
    W[1] = grid[1][1].w[2] + grid[0][0].high.x + grid[0][0].w[2];
    return k;
}

// case: pointers
static void fill(float *row, int n, float v) { for (int i = 0; i < n; i++) row[i] = v + i; }
static float total(float (*m)[5], int rows)
{
    float s = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 5; j++)
            s += m[i][j];
    return s;
}
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static int length(const char *s) { const char *p = s; while (*p) p++; return p - s; }
static int *at(int *a, int i) { return a + i; }
static void copy(int *to, const int *from, int n) { while (n-- > 0) *to++ = *from++; }
static int vla(int n, int m, int A[n][m])
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += A[i][m - 1];
    return s;
}
static const int table[] = {2, 3, 5, 7, 11, 13};
static char name[8] = "abc";
int f(int n, int A[16], float M[4][5], float T[2][4][5], int *out, unsigned char B[8])
{
    int x = 1, y = 2, i;
    int *p = A + 4, *e = &A[12];
    int L[3][4] = {{1, 2}, {3}};
    int Z[40] = {0};
    int Y[30] = {1, 2, 3, [20] = 9};
    float *row;
    char word[] = "hello";
    swap(&x, &y);
    swap(&A[0], &A[n & 15]);
    *p++ = x;
    *p = y;
    *++p += 3;
    p[1] = p[-1] + *(p + 2);
    while (p < e)
        *p++ ^= 1;
    for (i = 0; i < 4; i++) {
        row = M[i];
        fill(row, 5, i);
        row += 2;
        *row = -1;
    }
    fill(T[1][n & 3], 5, 100);
    M[0][0] = total(M, 4) + total(T[1], 2) + total(&T[0][2], 1);
    for (int *q = A; q != A + 3; ++q)
        *q += 1;
    *at(A, 5) = 55;
    copy(&A[8], A, 4);
    Z[n & 31] = table[n % 3 + 2] + length("four") + length(name) + length(word);
    L[2][3] = n;
    *out = vla(3, 4, L) + Z[n & 31] + Z[39] + Y[20] + Y[2] + Y[29] + sizeof word + sizeof table + 1[A];
    *(&x) = 3;
    int (*m)[4] = L;
    m[1][1] = 6;
    (*m)[2] = 4;
    name[1]++;
    *out += L[1][1] + L[0][2] + x + name[1] + *word + word[4];
    unsigned char *b = B;
    *b++ = n;
    *b-- |= 3;
    signed char *sb = (signed char *)B;
    *out += sb[1] + (p == e) + (p - A) + (e >= p) + !p + (p && 1);
    return *p + (&A[5] - p) + *L[1];
}

// case: globals
#define N 6
typedef int row_t[N];
static int state = 3, history[20], untouched;
const int limit = N * 2;
static const float weights[2][3] = {{1, 2, 3}, {.5f}};
double scale = 1.5;
static int next(void)
{
    static int seed = 7;
    static int used[4] = {1, 1};
    seed = seed * 5 + state;
    used[seed & 3]++;
    return seed + used[1];
}
int f(int n, row_t A, float W[N])
{
    extern double scale;
    typedef unsigned char byte;
    byte b = n;
    int squares[limit];
    for (int i = 0; i < limit; i++)
        squares[i] = i * i;
    for (int i = 0; i < N; i++) {
        const int offsets[4] = {3, 1, -1, -3};
        int local[4] = {4, 3, 2, 1};
        int counts[20] = {0};
        int big[20] = {5, 4, 3};
        local[i & 3] += n;
        counts[i] += i;
        big[1] += counts[i];
        A[i] += offsets[i & 3] + squares[limit - 1 - i] + next() + local[1] + counts[1] + big[1] + big[2];
        history[i] = A[i];
        W[i] = weights[i & 1][i % 3] * scale + b;
        scale += 0.25;
    }
    state++;
    return next() + history[2] + history[19] + untouched + state;
}

// case: packed
typedef struct { double v[3]; double m; } body;
typedef struct { unsigned long begin, end; } node;
struct inner { int a, b; };
struct outer { struct inner in[2]; int c; };
int f(body B[2][3], node N[8], struct outer O[3], struct outer *one, double R[4])
{
    int s = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                B[i][j].v[k] += B[1 - i][j].m * k;
    for (int i = 0; i < 8; i++)
        for (unsigned long e = N[i].begin & 7; e < (N[i].end & 7); e++)
            s += e;
    N[1] = N[2];
    O[1].in[s & 1].b = 4;
    O[0].in[1] = O[1].in[0];
    struct outer copy = O[1];
    copy.c++;
    *one = copy;
    one->in[1].a += 2;
    node *p = N + 3;
    (++p)->end = 9;
    R[0] = B[1][2].v[1];
    return s + O[0].in[1].a + copy.in[1].b + one->c;
}

// case: memory
#include <ctype.h>
#include <string.h>
struct pair { int a; float b[2]; };
static int digits(const char *s)
{
    int n = 0;
    while (isdigit(*s))
        n = n * 10 + (*s++ - '0');
    return n;
}
static int most(int a, int b) { return a > b ? a : b; }
int f(int n, int A[4][8], float F[6], unsigned char B[40])
{
    int copy[4][8], row[8], zeros[24];
    struct pair p, q = {1, {2, 3}};
    unsigned bits;
    float x = F[0];
    memcpy(copy, A, sizeof copy);
    memcpy(row, A[n & 3], sizeof row);
    memset(zeros, 0, sizeof(zeros));
    memset(B + 2, n, (n & 15) * sizeof *B);
    memset(A[1] + 4, 0, 3 * sizeof(int));
    memmove(&A[2][0], row, 4 * sizeof(int));
    memset(&p, 0, sizeof p);
    p.a++;
    memcpy(&q, &p, sizeof q);
    memcpy(&bits, &x, sizeof bits);
    bits ^= 0x80000000u;
    memcpy(&F[1], &bits, 4);
    F[2] = q.b[1] + p.b[0];
    for (int i = 0; i < most(n & 7, 3); i++)
        zeros[i] += most(A[0][i], copy[3][i]);
    return digits("1234x") + zeros[0] + zeros[23] + (n > 0 ? most(n, row[1]) : most(3, -n)) + q.a;
}

// case: countdown
int f(int n, unsigned char b, int A[32], int R[40])
{
    int k = 0, i, s = 0;
    unsigned char c = 16;
    unsigned u = n & 15;
    signed char t = n;
    while (c--)
        R[c] += A[c];
    R[16] = c;
    while (n-- > 90)
        s += n;
    R[17] = n;
    for (i = 8; --i;)
        s ^= i;
    R[18] = i;
    for (i = 20; i-- > 3 && s;)
        s++;
    for (i = 12; i--;) {
        if (A[i] > 60)
            break;
        s += 3;
    }
    R[19] = i;
    while (u--)
        s += u;
    R[20] = u;
    while (--b)
        s += b;
    R[21] = b;
    for (i = 3, k = 5; i < 9; i++)
        s += i * k;
    for (i = 5; i-- != 0; s++)
        if (i == 2)
            continue;
    while (t-- > 0)
        s++;
    R[22] = t;
    i = n;
    R[23] = 7;
    for (; i < 100; i += 9)
        s += i;
    for (i = 4; i > 0; --i)
        s ^= i << 4;
    i = A[0] & 3;
    A[0] = 6;
    for (; i < 8; i++)
        s += i;
    for (i = 0; i < (unsigned)n - 100; i++) {
        if (i == 5)
            break;
        s += 7;
    }
    while (i++ < 6)
        s += i;
    return s + k + i;
}

// case: flat
static int sum(const int *a, int n) { int s = 0; while (n > 0) s += a[--n]; return s; }
static int corner(int (*m)[4], int rows) { return m[0][0] + m[rows - 1][3]; }
int f(int n, int A[3][8], unsigned B[24], int T[2][3][4], float F[4][4])
{
    int *p = (int *)A, *q;
    int (*rows)[8] = (int (*)[8])B;
    unsigned *bits = (unsigned *)F;
    int total = 0;
    for (int i = 0; i < 24; i++)
        p[i] += i;
    *p++ = n;
    p += 9;
    *p = 5;
    q = (int *)A + 20;
    total += sum((int *)T, 24) + sum(&T[1][0][0], 4) + sum((int *)T[1], 12) + (q - p);
    total += corner((int (*)[4])A, 6) + corner((int (*)[4])(A + 1), 2);
    rows[n & 1][3] = 9;
    rows++;
    (*rows)[7] ^= 1;
    for (int i = 0; i < 16; i++)
        bits[i] ^= 0x80000000u;
    return total + (p < q) + sizeof(*rows);
}
