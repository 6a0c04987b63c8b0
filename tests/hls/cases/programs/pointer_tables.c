// Arrays of pointers, nodes that hold pointers, and pointers to functions.
// runs: 10
// rules: forms-1

// case: tables
static int t0[4] = {1,2,3,4}; static const int t1[4] = {9,8,7,6};
int f(int A[8], int n) { const int *rows[3] = {t1, A, &A[4]}; int s = 0; for (int i = 0;
i < 3; i++) { s = s * 3 + rows[i][n & 3]; rows[i]++; } rows[n & 1] = A;
return s + *rows[0] + rows[1][1] + (rows[2] == A + 5); }

// case: names
#include <string.h>
static const char *const names[] = {"zero", "one", "two", "three", 0, "five"};
int f(int n, const char T[8]) { const char *s = names[(n & 7) % 6]; if (!s) return -1;
int r = 0; while (*s) r = r * 5 + *s++;
return r + (int)strlen(names[3]) + (strcmp(names[n & 3], "two") == 0); }

// case: swap rows
void f(int A[4], int B[4], int C[4], int n) { int *p[3] = {A, B, C}; for (int k = 0;
k < (n & 7); k++) { int *t = p[k % 3]; p[k % 3] = p[(k + 1) % 3]; p[(k + 1) % 3] = t; }
for (int i = 0; i < 3; i++) p[i][i] += 10 * (i + 1); }

// case: sort pointers
struct item { int key; int value; };
int f(struct item S[6], int n) { struct item *order[6]; for (int i = 0; i < 6;
i++) order[i] = &S[i]; for (int i = 1; i < 6; i++) { struct item *x = order[i]; int j = i;
while (j > 0 && order[j - 1]->key > x->key) { order[j] = order[j - 1]; j--; } order[j] = x;
} int r = 0; for (int i = 0; i < 6; i++) r = r * 7 + order[i]->value; return r; }

// case: list
// rules: static-objects-1 forms-1
// arguments: A n used
#include <stddef.h>
struct node { int key, value; struct node *next; };
static struct node pool[16]; static struct node *table[4]; static struct node *freed;
static int used;
static struct node *find(int key) { for (struct node *n = table[key & 3]; n;
n = n->next) if (n->key == key) return n; return NULL; }
static void put(int key, int value) { struct node *n = find(key); if (n == NULL) {
if (freed) { n = freed; freed = freed->next; } else n = &pool[used++]; n->key = key;
n->next = table[key & 3]; table[key & 3] = n; } n->value = value; }
static void drop(int key) { struct node **p = &table[key & 3]; while (*p &&
(*p)->key != key) p = &(*p)->next; if (*p) { struct node *n = *p; *p = n->next;
n->next = freed; freed = n; } }
int f(int A[8], int n) { for (int i = 0; i < 8; i++) { put(A[i] & 7, i);
if (A[i] & 8) drop(A[(i + n) & 7] & 7); } int r = 0; for (int k = 0; k < 8; k++) {
struct node *m = find(k); r = r * 9 + (m ? m->value : 8); } return r; }

// case: tree
// rules: static-objects-1 forms-1
struct t { int v; struct t *l, *r; };
static struct t nodes[8]; static int n; static struct t *root;
static void insert(int v) { struct t **at = &root;
while (*at) at = v < (*at)->v ? &(*at)->l : &(*at)->r; nodes[n].v = v; *at = &nodes[n++]; }
int f(int A[8], int key) { for (int i = 0; i < 8; i++) insert(A[i]); int depth = 0;
struct t *p = root; while (p && p->v != key) { p = key < p->v ? p->l : p->r; depth++; }
return p ? depth : -depth; }

// case: local list
struct n { int v; struct n *next; }; int f(int A[8]) { struct n a[8] = {{0}};
struct n *head = 0, *prev = 0; for (int i = 0; i < 8; i++) { a[i].v = A[i];
a[i].next = head; head = &a[i]; } for (struct n *p = head; p;) { struct n *next = p->next;
p->next = prev; prev = p; p = next; } int r = 0; for (struct n *p = prev; p;
p = p->next) r = r * 3 + p->v; return r + (a[7].next == 0); }

// case: callback
static int inc(int x) { return x + 1; }
static int dbl(int x) { int r = 0; for (int i = 0; i < 2; i++) r += x; return r; }
static int twice(int (*g)(int), int x) { return g((*g)(x)); }
int f(int n) { int (*h)(int) = n & 1 ? inc : &dbl; return twice(inc, n) + 3 * twice(dbl,
n) + h(n) + (h == inc) + (h ? 5 : 0); }

// case: members
typedef double (*op)(double, double); struct entry { char name; op run; int prec; };
static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static double mul(double a, double b) { return a * b; }
static const struct entry table[] = {{'+', add, 1}, {'-', sub, 1}, {'*', mul, 2}};
double f(double a, double b, int n) { double r = 0; for (int i = 0; i < 3;
i++) if (table[i].prec != (n & 3)) r += table[i].run(a, b); return r; }

// case: state
// rules: static-objects-1 forms-1
typedef void (*state)(int); static state now; static int out[4]; static int count;
static void idle(int c); static void run(int c) { out[1] += c; if (c & 1) now = idle; }
static void idle(int c) { out[0]++; if (c > 3) now = run; }
int f(int A[8]) { now = idle; for (int i = 0; i < 8; i++) { now(A[i]); count++; }
return now == run; }

// case: return pointer
static int *first(int *a) { return a; }
static int *last(int *a) { return a + 7; }
int f(int A[8], int n) { int *(*pick[2])(int *) = {first, last}; int *p = pick[n & 1](A);
*p += 3; return *p * 2 + (int)(p - A); }

// case: structs
struct v { int x, y; }; static struct v turn(struct v a) { struct v b = {-a.y, a.x};
return b; }
static struct v flip(struct v a) { a.x = -a.x; return a; }
int f(int n) { struct v (*g[2])(struct v) = {turn, flip}; struct v a = {n, 3};
for (int i = 0; i < 5; i++) a = g[(n >> i) & 1](a); return a.x * 31 + a.y; }

// case: math
#include <math.h>
static double half(double x) { return x / 2; }
double f(double x, int n) { double (*g)(double) = n & 1 ? fabs : half; return g(x) + g(-x);
}

// case: sorts
#include <stdlib.h>
struct p { int key; short v; char c; };
static int by_key(const void *a, const void *b) { const struct p *x = a, *y = b;
return x->key < y->key ? -1 : x->key > y->key; }
static int ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int chars(const void *a, const void *b) {
return *(const char *)b - *(const char *)a; }
static int doubles(const void *a, const void *b) { double d = *(double *)a - *(double *)b;
return (d > 0) - (d < 0); }
int f(int A[9], char C[7], double D[6], int k) { struct p s[5]; for (int i = 0; i < 5;
i++) { s[i].key = A[i] * 31 % 17; s[i].v = i; s[i].c = C[i]; }
qsort(A, 9, sizeof *A, ints); qsort(C, 7, 1, chars); qsort(D, 6, sizeof(double), doubles);
qsort(s, 5, sizeof s[0], by_key);
int *at = bsearch(&k, A, 9, sizeof(int), ints); int r = at ? (int)(at - A) : -1;
for (int i = 0; i < 5; i++) r = r * 5 + s[i].key; return r; }

// case: matrix rows
int f(int M[4][4], int n) { int *r[4]; for (int i = 0; i < 4;
i++) r[i] = M[(i * 3 + n) & 3]; int s = 0; for (int i = 0; i < 4; i++) for (int j = 0;
j < 4; j++) s = s * 3 + r[i][j]; int **q = r; return s + q[1][2] + **++q; }
