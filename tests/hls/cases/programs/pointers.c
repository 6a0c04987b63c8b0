// Pointers into one of several objects, null ones, pointers to pointers, and `a ?: b`.
// runs: 12
// rules: forms-1

// case: either array
// rules: forms-1
void f(int A[8], int B[8], int n) { int *p = n > 0 ? A : B;
int *q = n & 1 ? B + 1 : A + 2;
for (int i = 0; i < 4; i++) { p[i] += q[1] * 3; *q++ = i; } }

// case: swapped
// rules: forms-1
int f(int A[8], int n) { int b[8] = {1, 2, 3}, c[40] = {5}, *s = A, *d = b;
for (int k = 0; k < (n & 3); k++) { for (int i = 0; i < 7; i++) d[i] = s[i + 1] + k;
int *t = s; s = d; d = t;
if (k == 1) d = c; } return s[0] + d[1] * 7 + c[0] + (s == A) + (d != b); }

// case: null
// rules: forms-1
#include <stddef.h>
static int *find(int *a, int n, int k) { for (int i = 0; i < n; i++)
if (a[i] > k) return &a[i]; return NULL; }
int f(int A[8], int k) { int *p = find(A, 8, k), *q = NULL; int r = 0; if (p) { *p += 5;
r = p - A; }
if (!q) q = p; if (q != NULL && *q > 2) r += *q; q = 0; return r + (p == q) + (q == 0 ? 100 : 0); }

// case: null to callee
// rules: forms-1
static int get(const int *p, int k) { if (p == 0) return -1; return p[k & 3]; }
int f(int A[8], int n) { return get(n & 1 ? A : 0, n) + 10 * get(n & 2 ? 0 : A + 4, n); }

// case: pointer to pointer
// rules: forms-1
static int take(const char **p, int n) { int s = 0; while (n--)
s += *(*p)++; return s; }
static void move(int **p, int *to) { *p = to; }
int f(const char T[32], int A[8], int n) { const char *c = T; int *p = A; int a = take(&c, n & 7);
a = a * 3 + take(&c, 4); move(&p, A + 3); if (n & 1) move(&p, &p[2]);
return a * 5 + *c + *p + (int)(p - A); }

// case: members
// rules: forms-1
struct s { int x; short h[3]; }; int f(int n, int A[4]) {
struct s a = {1, {2, 3, 4}}, b = {n};
struct s *p = n & 1 ? &a : &b; p->x += 5; p->h[n & 1] = 9; struct s c = *p; *p = a; short *h = p->h;
h[2]++; A[1] = c.x; return a.x + 3 * b.h[0] + c.h[1] + b.h[2] + a.h[2]; }

// case: in conditions
// rules: forms-1
int f(int A[8], int B[8], int n) { int *p = 0; int s = 0;
for (int i = 0; i < 8; i++) { if (!p || A[i] > *p) p = A + i; if (B[i] > *p) p = &B[i];
s += p == A + i; }
return *p + s + (p && p[0] > 3 ? 100 : 0); }

// case: with effects
// rules: forms-1
int f(int A[8], int B[8], int n) { int i = n & 3;
int *p = n & 4 ? A + i++ : B + ++i;
*p++ = 77; *p += i; return p[1] + i; }

// case: omitted
// rules: static-objects-1 forms-1
static int k; static int next(int x) { return k += x; }
int f(int n, int A[8]) { int *p = 0; int *q = p ?: A; unsigned char c = n; return (n ?: 7)
+ (next(n & 1) ?: 9)
+ (c ?: -1L) + q[1] + (A[0] ?: A[1] ?: A[2]) + (A[3] ?: (A[4] = 5)) + k; }
