// Functions, arrays and interfaces as the front end reads them.
// run: read

// case: loops of called functions are named by the function
// expect: loops = g_here inner_L0 g_L1 g_here_1 inner_L0_1 g_L1_1 L0
static int inner(int x) { for (int i = 0; i < 3; i++) x += i; return x; }
static int g(int x) { here: for (int i = 0; i < 3; i++) x += inner(x); do x--; while (x > 9); return x; }
int f(int n, unsigned u) { n = g(n) + g(u); for (;;) break; return 0; }

// case: an argument that nothing changes keeps loops of a called function counted
// expect: trips = L0 4 g_L0 16
// expect: index_variables A = i k
static int g(int m, int *row) { int s = 0; for (int i = 0; i < m; i++) s += row[i]; return s; }
int f(int n, int A[64]) { for (int k = 0; k < 4; k++) n += g(16, A + 16 * k); return 0; }

// case: early returns become branches
// expect: kinds lacks Block
// expect: kinds lacks Leave
// expect: kinds = ...Return
int f(int n) { if (n < 0) return 1; if (n > 9) return 2; return n; }

// case: a return from a loop leaves the body of the function
// expect: kinds = Block ...Leave...Return
// expect: left_blocks = own
int f(int A[8]) { for (int i = 0; i < 8; i++) if (A[i]) return i; return -1; }

// case: elements behind a condition are loaded under it
// expect: guarded = A if
int f(int n, int A[8]) { return n >= 0 && n < 8 ? A[n] : 0; }

// case: arrays that nothing stores to are tables
// expect: tables = A None, counts None, T 4 5 0, W None, S 97 98 0
static int counts[20];
int f(int n, int A[8])
{
    int T[3] = {4, 5}, W[3] = {6, 7};
    static const unsigned char S[] = "ab";
    const int unused[2] = {1, 2};
    W[n & 1] = 1;
    counts[n & 15] += 1;
    return T[n & 1] + W[2] + S[n & 1] + counts[1];
}

// case: functions outside the top may be anything that parses
// expect: kinds = Return
#include <stdio.h>
#include <stdlib.h>
union bits { float f; int i; };
struct tree { struct tree *left, *right; int (*compare)(const void *, const void *); };
static int walk(struct tree *t) { return t ? walk(t->left) + walk(t->right) : 0; }
int f(int n) { return n; }
int main(int argc, char **argv)
{
    int (*A)[argc] = malloc(argc * sizeof *A);
    goto end;
end:
    printf("%d %Lf\n", f(walk(NULL)), 1.0L);
    free(A);
    return 0;
}

// case: the interface says what is read and written
// expect: interface = n: int32_t () read, A: int32_t (4,) written, B: int32_t (2, 3) read
void f(int n, int A[4], int B[2][3]) { A[n] = B[0][1]; }

// case: macros and own headers are expanded
// expect: interface = A: int32_t (4,) written
#include <stdint.h>
#define N 4
void f(int32_t A[N]) { A[N - 1] = N; }

// case: the interface has every type and shape
// expect: interface = a: int8_t () read, b: uint16_t () read, c: int64_t () read, d: uint64_t () read, e: uint8_t () read, g: uint32_t () read, x: float () read, y: double () read, T: uint8_t (2, 3) read, B: double (4, 4) read, count: int32_t (1,) written, M: float (5,) written, text: int8_t (7,)
#include <stdint.h>
#include <stddef.h>
typedef struct { double v[3]; double m; } body;
enum mode { LOW, HIGH };
double f(int8_t a, unsigned short b, long c, size_t d, _Bool e, enum mode g, float x,
         const double y, const uint8_t T[2][3], body B[4], int *count,
         float (M)[static 5], char text[7])
{
    *count = T[1][2];
    M[0] = B[1].m;
    return a + b + c + d + e + g + x + y;
}

// case: array directives name arrays as the function does
// expect: array_directives = partition A cyclic 2, partition local_1 complete None
// expect: array_names has A local
// expect: array_names has local_1
static void g(int *row)
{
#pragma HLS array_partition variable=row type=cyclic factor=2 dim=1
    int local[4] = {0};
#pragma HLS array_partition variable=local complete
    local[row[0] & 3] += 1;
    row[1] = local[2];
}
int f(int n, int A[64]) { int local[2]; local[n & 1] = 1; A[3] = local[0]; g(A); return 0; }
