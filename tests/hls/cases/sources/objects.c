// Objects of static storage in every form.

// case: every form
struct mixed { int a; char b; double c[2]; };
struct mixed g = {1, 2, {3, 4}}, h[3];
struct { int x, y; } p[2] = {{1, 2}, {.y = 4}};
union { int a; char b[4]; } u = {7};
int total = 5, n = 3;
static short in[4] = {1, 2, 3, 4};
static unsigned long cube[2][3] = {{1, 2, 3}, {4}};
void init(void) { in[0] = 3; n = 2; }
static int next(int a)
{
    static int c = 3, d[2] = {1, 2}; /* ; */ static char e; static _Bool once;
    if (!once) e = ';'; once = 1;
    c += a; d[a & 1] = c; return c + e;
}
static void add(int *to, int x) { *to += x; }
int f(int a, const int x[6])
{
    g.a = a; g.b++; g.c[1] += a; h[a & 1].c[0] = 2; p[a & 1].y = a; u.b[a & 3] = 1;
    for (int i = 0; i < n; i++) { add(&total, x[i] * in[i & 3]); cube[i & 1][1] ^= total; }
    return next(a) + next(2) + u.a;
}

// case: names and scopes
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
#include "state.h"
char msg[] = "abc\n";
bool seen[4];
int x = 9, total;
static uint8_t src[6] = {1, 2, 3, 4, 5, 6}, dst[6];
struct node { int v; struct { short a, b[2]; } in; };
static struct node pool[2] = {{1, {2, {3, 4}}}, {.v = 7}};
enum color { RED, GREEN } c = GREEN;
double acc;
static int bump(int k) { x += k; return x; }
static int one(int k) { static int n; n += k; return n; }
static int two(int k) { static int n = 5; n ^= k; return n; }
static unsigned fact(unsigned n, unsigned a)
{
    static unsigned calls;
    calls++;
    if (n < 2) return a;
    return fact(n - 1, a * n);
}
int edge(int x, const int in[4])
{
    extern int total;
    int *q = &total;
    *q += x; q[0] ^= in[1];
    memcpy(dst, src, sizeof dst);
    src[x & 3] = 0;
    for (int i = 0; i < 4; i++) { seen[i] = in[i] > 2; acc += in[i] * 0.5; msg[i & 3]++; }
    struct node *p = &pool[x & 1];
    p->in.b[1] += 2; pool[1].v = p->in.a;
    c = x > 2 ? RED : GREEN;
    memset(&seen[2], 0, 2 * sizeof seen[0]);
    state_step(x);
    return bump(x) + one(x) + two(x) + one(1) + (int)fact(x & 7, 1) + (int)strlen(msg);
}

// case: state.h
struct state { uint32_t s[2]; float f; };
static struct state st = {{1, 2}, 0.5f};
static inline void state_step(int k) { static uint16_t hist[4], at;
  hist[at++ & 3] = (uint16_t)k; st.s[k & 1] ^= 7u * (unsigned)k; st.f *= 1.5f; }
