// C as people write it: what other engines' programs use.
// runs: 20

// case: old parameters
int g(a, b) int a[4]; short b; { return a[b & 3]; }
int f(A, n) int A[4]; int n; { return g(A, n) + n; }

// case: pragma in expression
int f(_Pragma("x") int n) { return n + _Pragma("y") 1 + (_Pragma("z") n); }

// case: attributes
[[maybe_unused]] static int g(int a __attribute((unused))) { return a; }
extern int other(int) __asm__("another");
int __attribute((noinline)) f(int n) { [[maybe_unused]] int b = n; return g(b); }

// case: pointer to sized typedef
typedef unsigned char state_t[4][4];
static void add(state_t *s, int k) { for (int i = 0; i < 4; i++) (*s)[i][k & 3] ^= k; }
void f(state_t *s, int k) { add(s, k); (*s)[1][2]++; }

// case: goto leaves loops
int f(int A[8]) { int i, j; for (i = 0; i < 8; i++) for (j = 0; j < 8; j++)
if (A[i] > A[j] + 90) goto out; return -1; out: A[0] = j; return i; }

// case: goto skips forward
int f(int n, int A[4]) { int s = 0; if (n < 0) goto fail; s = n * 2;
if (s > 50) goto done; A[1] = s; s++; done: A[0] = s; return s;
fail: A[2] = n; { if (n < -50) goto end; A[3] = 1; } end: return -1; }

// case: goto out of a switch
int f(int n) { switch (n & 3) { case 0: if (n > 8) goto big; n++; break;
case 1: goto big; default: n = 7; } n += 100; big: return n; }

// case: bytes of words
int f(int A[4], int n) { unsigned char *p = (unsigned char *)A; int s = 0;
for (int i = 0; i < 16; i++) s += p[i] * i; p[n & 15] = 7; *(p + 3) += 2;
return s + (int)(p + 5 - (unsigned char *)A); }

// case: words of bytes
unsigned f(unsigned char B[16], int n) { unsigned *p = (unsigned *)B;
p[1] = p[n & 3] + 1; unsigned short *h = (unsigned short *)&B[4]; h[1] ^= 0x1234;
return p[2] + ((unsigned long long *)B)[1] % 1000; }

// case: bytes of rows
int f(short A[3][4], int n) { char *p = (char *)A[n & 1]; p[2] = 5; p[7] += 1;
char *q = (char *)A; return q[n & 15] + ((char (*)[8])A)[1][n & 7]; }

// case: bytes of a variable
unsigned f(double d, float x, long n) { unsigned char *p = (unsigned char *)&d;
((char *)&n)[2] = 9; return p[7] ^ *(unsigned *)&x ^ ((short *)&n)[1]; }

// case: unions
union u { double d; struct { unsigned lo, hi; } w; unsigned char b[8]; };
union u make(double x) { union u v = {.d = x}; return v; }
unsigned f(double x, int n) { union u v = make(x), t[3]; v.b[n & 7] ^= 5; t[n & 1] = v; t[2].d = 1;
return t[n & 1].w.hi ^ t[n & 1].w.lo ^ t[2].w.hi; }

// case: static union
static union { float f; unsigned i; } state;
static const union { int i; char c[4]; } k = {258};
unsigned f(float x) { unsigned old = state.i; state.f = x; return state.i + old + k.c[1]; }

// case: unnamed members
struct s { union { int a; short h[2]; }; struct { char b, c; }; };
int f(int n) { struct s v; v.a = n; v.b = 3; v.c = n; return v.h[0] + v.b + v.c; }

// case: structures of several types
#include <string.h>
#include <stdbool.h>
typedef struct { unsigned char name[5]; int count; float gain; union { int a; short h[2]; } u;
struct { short x; bool on; } in[2]; } State;
static void bump(State *s, int k) { s->count += k; s->in[1].x++; }
int f(State *s, const State *other, State many[3], int n) { State local = *other;
local.count ^= 3; bump(s, n); bump(&local, 2); s->name[n & 3] = local.name[1] + 1;
s->u.h[1] = local.count; s->gain = s->gain * 2 + local.gain;
if (n > 50) memset(&many[1], 0, sizeof(State));
if (s->in[0].on) memcpy(&s->in[0], &local.in[1], sizeof s->in[0]); many[2] = local;
for (int i = 0; i < 3; i++) n += many[i].count * n + many[i].in[i & 1].x;
return n + s->count + local.in[1].x; }

// case: allocated memory
#include <stdlib.h>
struct ctx { unsigned *words; int n; };
static void init(struct ctx *c) { c->words = malloc(4 * sizeof c->words[0]);
if (c->words == NULL) exit(1);
c->n = 3; for (int i = 0; i < 4; i++) c->words[i] = i; }
static unsigned use(int k) { struct ctx c; init(&c); c.words[k & c.n] += 7;
unsigned r = c.words[1] + c.words[k & 3]; free(c.words); return r; }
unsigned f(int n) { struct ctx c; int *z = calloc(3, sizeof *z); unsigned s = 0; void *v = malloc(8);
for (int i = 0; i < 4; i++) { init(&c); c.words[i] += n; s += c.words[1]; free(c.words); }
for (int i = 0; i < 4; i++) s += use(n + i); z[n & 1] += s; long *w = v; *w = s;
s = z[0] + z[1] + z[2] + *w; free(z); free(v); return s; }

// case: bytes of structures
#include <string.h>
struct s { int a; char b[3]; struct { short x, y; } in[2]; };
static void wipe(void *p, int n) { unsigned char *q = p; for (int i = 0; i < n; i++) q[i] = i; }
int f(struct s *g, unsigned char B[16], int n) { struct s t, u[2] = {{1, {2}, {{3, 4}}}, {n}};
wipe(&t, sizeof t); t.in[1].y ^= n; memcpy(&u[1], B, sizeof u[1]); u[1].a += t.a; *g = u[n & 1];
((char *)g)[n & 15] ^= 1; memcpy(B, &t, 8); struct s v = t; unsigned char *all = (unsigned char *)u;
return t.a + t.b[2] + v.in[1].x + u[0].a + u[1].in[0].x + all[n & 31]; }

// case: union argument
union u { float f; int i; }; float f(union u A[3]) { A[1].i ^= 1; return A[0].f; }

// case: errors and classes
#include <errno.h>
#include <math.h>
#include <fenv.h>
#include <endian.h>
int f(double x, float y) { if (x < 0) errno = EDOM; feraiseexcept(FE_INVALID);
return errno + 10 * fpclassify(x) + 100 * fpclassify(y * 0) + 1000 * (BYTE_ORDER == LITTLE_ENDIAN); }

// case: tail recursion
static int gcd(int a, int b) { if (b == 0) return a; return gcd(b, a % b); }
static int sum(const int *p, int n, int s) { return n == 0 ? s : sum(p + 1, n - 1, s + *p); }
static void mark(int *A, int n) { if (n > 0) { A[n] += n; mark(A, n - 1); } }
int f(int A[8], int n) { mark(A, n & 7); return gcd(n + 200, 48) + sum(A, 8, 0); }

// case: tail recursive top
int f(int n, int s) {
for (int i = 0; i < 3; i++) if (n > 90 + i) return f(n - 90, s + i);
if (n <= 0) return s; return f(n - 7, s + n); }

// case: statement expression
#define MAX(a, b) ({ int x_ = (a); int y_ = (b); x_ > y_ ? x_ : y_; })
int f(int a, int b) { return MAX(a, b) + MAX(a + 1, 2 * b); }

// case: text functions
#include <memory.h>
int f(char A[8], char B[8], int n) { A[7] = B[7] = 0;
return memcmp(A, B, n & 7) + 3 * (int)strlen(A) + (strcmp(A, B) < 0) + (strncmp(A, B, 3) > 0); }

// case: copies between widths
#include <string.h>
unsigned f(unsigned char B[8], unsigned W[2], float x) {
unsigned v; memcpy(&v, B + 4, 4); memcpy(W, B, 8); memcpy(B + 2, &x, sizeof x);
memset(W + 1, 0x5a, 4); return v; }

// case: built in functions
int f(unsigned n, unsigned long long k) {
return __builtin_popcount(n) + __builtin_clz(n | 1)
+ __builtin_ctzll(k | 256) + (int)__builtin_bswap32(n) + __builtin_expect(n > 3, 1)
+ (int)__builtin_offsetof(struct { char a; short b; int c; }, c); }
