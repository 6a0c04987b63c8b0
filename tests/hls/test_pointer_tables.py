"""Arrays of pointers, nodes that hold pointers, and pointers to functions, against gcc."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from native_pairs import check_front_end

from pipelines.c import HlsError
from pipelines.c.frontend import read_function, read_interface
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.rules import FORMS, STATIC_OBJECTS, later_rules

PROGRAMS = {
    "tables": """
static int t0[4] = {1,2,3,4}; static const int t1[4] = {9,8,7,6};
int f(int A[8], int n) { const int *rows[3] = {t1, A, &A[4]}; int s = 0; for (int i = 0;
i < 3; i++) { s = s * 3 + rows[i][n & 3]; rows[i]++; } rows[n & 1] = A;
return s + *rows[0] + rows[1][1] + (rows[2] == A + 5); }
""",
    "names": """
#include <string.h>
static const char *const names[] = {"zero", "one", "two", "three", 0, "five"};
int f(int n, const char T[8]) { const char *s = names[(n & 7) % 6]; if (!s) return -1;
int r = 0; while (*s) r = r * 5 + *s++;
return r + (int)strlen(names[3]) + (strcmp(names[n & 3], "two") == 0); }
""",
    "swap_rows": """
void f(int A[4], int B[4], int C[4], int n) { int *p[3] = {A, B, C}; for (int k = 0;
k < (n & 7); k++) { int *t = p[k % 3]; p[k % 3] = p[(k + 1) % 3]; p[(k + 1) % 3] = t; }
for (int i = 0; i < 3; i++) p[i][i] += 10 * (i + 1); }
""",
    "sort_pointers": """
struct item { int key; int value; };
int f(struct item S[6], int n) { struct item *order[6]; for (int i = 0; i < 6;
i++) order[i] = &S[i]; for (int i = 1; i < 6; i++) { struct item *x = order[i]; int j = i;
while (j > 0 && order[j - 1]->key > x->key) { order[j] = order[j - 1]; j--; } order[j] = x;
} int r = 0; for (int i = 0; i < 6; i++) r = r * 7 + order[i]->value; return r; }
""",
    "list": """
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
""",
    "tree": """
struct t { int v; struct t *l, *r; };
static struct t nodes[8]; static int n; static struct t *root;
static void insert(int v) { struct t **at = &root;
while (*at) at = v < (*at)->v ? &(*at)->l : &(*at)->r; nodes[n].v = v; *at = &nodes[n++]; }
int f(int A[8], int key) { for (int i = 0; i < 8; i++) insert(A[i]); int depth = 0;
struct t *p = root; while (p && p->v != key) { p = key < p->v ? p->l : p->r; depth++; }
return p ? depth : -depth; }
""",
    "local_list": """
struct n { int v; struct n *next; }; int f(int A[8]) { struct n a[8] = {{0}};
struct n *head = 0, *prev = 0; for (int i = 0; i < 8; i++) { a[i].v = A[i];
a[i].next = head; head = &a[i]; } for (struct n *p = head; p;) { struct n *next = p->next;
p->next = prev; prev = p; p = next; } int r = 0; for (struct n *p = prev; p;
p = p->next) r = r * 3 + p->v; return r + (a[7].next == 0); }
""",
    "callback": """
static int inc(int x) { return x + 1; }
static int dbl(int x) { int r = 0; for (int i = 0; i < 2; i++) r += x; return r; }
static int twice(int (*g)(int), int x) { return g((*g)(x)); }
int f(int n) { int (*h)(int) = n & 1 ? inc : &dbl; return twice(inc, n) + 3 * twice(dbl,
n) + h(n) + (h == inc) + (h ? 5 : 0); }
""",
    "members": """
typedef double (*op)(double, double); struct entry { char name; op run; int prec; };
static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static double mul(double a, double b) { return a * b; }
static const struct entry table[] = {{'+', add, 1}, {'-', sub, 1}, {'*', mul, 2}};
double f(double a, double b, int n) { double r = 0; for (int i = 0; i < 3;
i++) if (table[i].prec != (n & 3)) r += table[i].run(a, b); return r; }
""",
    "state": """
typedef void (*state)(int); static state now; static int out[4]; static int count;
static void idle(int c); static void run(int c) { out[1] += c; if (c & 1) now = idle; }
static void idle(int c) { out[0]++; if (c > 3) now = run; }
int f(int A[8]) { now = idle; for (int i = 0; i < 8; i++) { now(A[i]); count++; }
return now == run; }
""",
    "return_pointer": """
static int *first(int *a) { return a; }
static int *last(int *a) { return a + 7; }
int f(int A[8], int n) { int *(*pick[2])(int *) = {first, last}; int *p = pick[n & 1](A);
*p += 3; return *p * 2 + (int)(p - A); }
""",
    "structs": """
struct v { int x, y; }; static struct v turn(struct v a) { struct v b = {-a.y, a.x};
return b; }
static struct v flip(struct v a) { a.x = -a.x; return a; }
int f(int n) { struct v (*g[2])(struct v) = {turn, flip}; struct v a = {n, 3};
for (int i = 0; i < 5; i++) a = g[(n >> i) & 1](a); return a.x * 31 + a.y; }
""",
    "math": """
#include <math.h>
static double half(double x) { return x / 2; }
double f(double x, int n) { double (*g)(double) = n & 1 ? fabs : half; return g(x) + g(-x);
}
""",
    "sorts": """
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
""",
    "matrix_rows": """
int f(int M[4][4], int n) { int *r[4]; for (int i = 0; i < 4;
i++) r[i] = M[(i * 3 + n) & 3]; int s = 0; for (int i = 0; i < 4; i++) for (int j = 0;
j < 4; j++) s = s * 3 + r[i][j]; int **q = r; return s + q[1][2] + **++q; }
""",
}
"""Programs with a function `f`."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_pointers_in_memory_point_as_in_native_c(name: str, tmp_path: Path) -> None:
    check_front_end(PROGRAMS[name], "f", tmp_path, runs=10)


def random_nodes(seed: int) -> str:
    """A program that links nodes of a static array and calls functions of a table."""
    draw = random.Random(seed)
    names, functions = ("a", "b", "c"), ("add", "mix", "low")

    def node() -> str:
        return draw.choice((*names, "0", "&pool[n & 7]", f"heads[n & {draw.randrange(4)}]"))

    def step() -> str:
        one, other = draw.choice(names), draw.choice(names)
        return draw.choice(
            (
                f"{one} = {node()};",
                f"if ({one}) {one}->next = {node()};",
                f"if ({one} && {one}->next) {one} = {one}->next;",
                f"if ({one}) {one}->v = calls[(unsigned){draw.choice(('s', 'n'))} % 3]({one}->v, n);",
                f"heads[{draw.randrange(4)}] = {node()};",
                f"s += count({one}) + 2 * ({one} == {other}) + ({one} && {one}->next == {other});",
                f"calls[{draw.randrange(3)}] = n & {draw.randrange(1, 8)} ? {draw.choice(functions)} : add;",
                f"set(&{draw.choice((one, 'heads[n & 3]'))}, {node()}, n & {draw.randrange(8)});",
            )
        )

    body = [step() for _ in range(draw.randrange(5, 11))]
    return "\n".join(
        (
            "struct node { unsigned v; struct node *next; };",
            "static struct node pool[8], *heads[4];",
            "static unsigned add(unsigned x, unsigned y) { return x + y; }",
            "static unsigned mix(unsigned x, unsigned y) { unsigned r = 1; for (int i = 0; i < 3; i++)",
            "r = r * x + y; return r; }",
            "static unsigned low(unsigned x, unsigned y) { return x < y ? x : y; }",
            "static unsigned (*calls[3])(unsigned, unsigned) = {add, mix, low};",
            "static int count(const struct node *p) { int k = 0; while (p && k < 5) { k++; p = p->next; }",
            "return k; }",
            "static void set(struct node **to, struct node *p, int k) { if (k > 2) *to = p; }",
            "unsigned f(unsigned A[8], unsigned n) { unsigned s = 0; struct node *a = 0;",
            "struct node *b = pool, *c = &pool[3];",
            "for (int i = 0; i < 8; i++) pool[i].v = A[i];",
            "for (int i = 0; i < 3; i++) {",
            *body,
            "n = n * 5 + 3; }",
            "for (int i = 0; i < 8; i++) s = s * 7 + pool[i].v + (pool[i].next ? pool[i].next->v : 9);",
            "return s; }",
        )
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_nodes_point_as_in_native_c(seed: int, tmp_path: Path) -> None:
    check_front_end(random_nodes(seed), "f", tmp_path, runs=8)


def test_constant_pointers_need_no_memory() -> None:
    function = read_function(PROGRAMS["members"], top="f")
    assert not any(array.name.endswith("_at") for array in function.arrays)
    assert "table_run_which" in compile_program(PROGRAMS["members"], top="f", options=HlsOptions()).verilog


def test_objects_with_pointers_are_no_ports() -> None:
    assert [a.name for a in read_interface(PROGRAMS["list"], "f").arguments] == ["A", "n", "used"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_pointers_in_memory_change_the_identity_of_their_programs(name: str) -> None:
    rules = later_rules(PROGRAMS[name], "f")
    assert rules == ((STATIC_OBJECTS, FORMS) if name in ("list", "tree", "state") else (FORMS,))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "int f(int n, int (*g)(int)) { return g(n); }",
            r"an argument must be a number or an array, got function \* g \(program\.c:1\)",
        ),
        (
            "int f(int n) { int (*g)(int) = 0;\nreturn g(n); }",
            r"a pointer must point to an object before it is used, got a null pointer in g\(n\) .*:2\)",
        ),
        ("int f(int n) { int *p = &n;\nreturn p(n); }", r"a call must be of a function .* \(in f\) .*:2\)"),
        (
            "static int g(int (*h)(int), int n);\nstatic int k(int n) { return g(k, n) + 1; }\n"
            "static int g(int (*h)(int), int n) { return h(n) + 1; }\nint f(int n) { return g(k, n); }",
            r"a function must call itself only .*, got recursion in g \(f calls g calls k calls g\) .*:2\)",
        ),
        (
            "#include <stdlib.h>\nint f(int n) { int *a[4]; for (int i = 0; i < 4; i++)\n"
            "{ a[i] = malloc(4); *a[i] = n; } return *a[n & 3]; }",
            r"memory that a loop allocates must have one pointer .*, got the pointers of a \(program\.c:3\)",
        ),
        (
            "struct s { int *p; }; int f(struct s *g[2]) { return *g[0]->p; }",
            r"an array argument must be an array of numbers .*",
        ),
    ],
)
def test_pointers_in_memory_reject_what_they_cannot_hold(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}"):
        read_function(source, top="f")
