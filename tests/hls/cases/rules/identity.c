// Later rules of the engine that a program's identity names; none where it means what it meant before.

// rules: static-objects-1
int out[8]; void f(int k) { for (int i = 0; i < 8; i++) out[i] = k * i; }

// rules: static-objects-1
int f(int k) { static int c; return c += k; }

// rules:
#define V static int c
int g(int k) { V; return c += k; } void f(int *p) { *p = 1; }

// rules: static-objects-1
int n; int f(void) { return n; }

// rules: static-objects-1
int *p; void f(int k) { *p = k; }

// rules: static-objects-1
void f(int k) { k++; }

// rules: static-objects-1
void g(int k) { k++; } void f(int k, int a[4]) { g(k); }

// rules: volatile-1
void f(volatile int *p) { *p = 1; }

// rules: volatile-1
volatile int r; int f(int k) { return r = k; }

// rules:
/* volatile */ const char *s = "static volatile"; void f(int a[4]) { a[1] = 2; }

// rules:
int t[4] = {1, 2, 3, 4}; int f(int k) { return t[k & 3]; }

// rules:
static const int t[2] = {1, 2}; typedef struct { int a; } s; int f(int k) { return t[k & 1]; }

// rules:
static int g(int k) { return k; } void f(int k, int a[2][2]) { a[k & 1][0] = g(k); }

// rules:
static void g(int o[2]) { o[1] = 1; } void f(int a[2]) { g(a); }

// rules:
int out[8]; void g(void) { out[0] = 1; } void f(int *p) { *p = 1; }

// rules:
not C

// rules: static-objects-1
int out[(4) * 2]; void f(int x[8]) { out[0] = x[1]; x[0] = 1; }

// rules: static-objects-1
int out[8] __attribute__((aligned(16))); void f(int x[8]) { out[0] = x[0] = 1; }

// rules: static-objects-1
int out[sizeof(int)], k; void f(int x[8]) { k = x[0] = 1; }

// rules: static-objects-1
extern int out[8]; void f(int x[8]) { out[0] = x[0] = 1; }
int out[8];

// rules: static-objects-1
#define OBJECT int out;
OBJECT void f(int x[8]) { out = x[0] = 1; }

// rules: static-objects-1
#define COUNTER static int k
void f(int x[8]) { COUNTER; x[0] = k++; }

// rules:
int g(int, const int *y); int h(void); void f(int x[8]) { x[0] = 1; }

// rules: constants-1
int f(int k) { return k + 'ab'; }

// rules: constants-1
int f(int k) { return k + L'a'; }

// rules: constants-1
int f(int k) { return k + _Generic(k, int: 1); }

// rules: constants-1
int f(int k) { return k + _Alignof(int); }

// rules:
int f(int k) { return k + '\xff'; /* it's 'ab' */ }

// rules:
int g(int k) { return k + 'ab'; } int f(int k) { return k; }

// rules: static-objects-1 constants-1
double g = 1.0 / 0.0; void f(int k) { g += k; }

// rules: static-objects-1
double g = 1.0 / 2.0; void f(int k) { g += k; }

// rules:
double g = 1.0 / 0.0; double f(int k) { return g + k; }

// rules: forms-1
#include <stdio.h>
int f(int n) { puts(""); return n; }

// rules: forms-1
struct s { int a : 3; }; int f(int n) { struct s t = {n}; return t.a; }

// rules:
int f(int A[8]) { int *p = A; p = A + 1; return *p; }

// rules:
int f(int A[8]) { int *p = A; return p == 0 ? 1 : *p; }

// rules:
struct __attribute__((packed)) s { char a; int b; }; int f(int n) { struct s t = {1, n}; return t.b; }

// rules:
int f(int n) { __attribute__((aligned(16))) int a[4] = {n}; return a[n & 3]; }

// rules:
struct __attribute__((packed)) s { int a, b; }; int f(struct s *p, int n) { return p->a + sizeof *p; }

// rules:
__attribute__((noinline)) int f(int n) { return n; }
