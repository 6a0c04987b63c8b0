/* One product C = A*B of int matrices modulo 2^32: Winograd's form of Strassen (7 products, 15 additions),
   iterative base case below CUT, odd sizes by peeling. Workspace is a bump allocator on a static pool. */
#include <stdint.h>
#include <string.h>
#ifndef N
#define N 20
#endif
#ifndef CUT
#define CUT 6
#endif
#define POOL (6 * N * N + 64)

typedef uint32_t elt;
typedef struct { elt *p; int ld; } mat;

static elt pool[POOL];
static int top;

static mat fresh(int n)
{
	mat m = { pool + top, n };
	top += n * n;
	return m;
}

static mat sub(mat m, int i, int j) { return (mat){ m.p + i * m.ld + j, m.ld }; }

static void comb(mat d, mat a, mat b, int n, int minus)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			elt y = b.p[i * b.ld + j];
			d.p[i * d.ld + j] = a.p[i * a.ld + j] + (minus ? 0u - y : y);
		}
}

static void gemm(mat c, mat a, mat b, int m, int n, int k)      /* c += a b */
{
	for (int i = 0; i < m; i++)
		for (int l = 0; l < k; l++) {
			elt f = a.p[i * a.ld + l];
			if (!f) continue;
			for (int j = 0; j < n; j++)
				c.p[i * c.ld + j] += f * b.p[l * b.ld + j];
		}
}

static void mul(mat c, mat a, mat b, int n)                     /* c = a b */
{
	if (n <= CUT) {
		for (int i = 0; i < n; i++)
			memset(c.p + i * c.ld, 0, (size_t)n * sizeof(elt));
		gemm(c, a, b, n, n, n);
		return;
	}
	const int e = n & ~1, h = e / 2, mark = top;
	mat a11 = a, a12 = sub(a, 0, h), a21 = sub(a, h, 0), a22 = sub(a, h, h);
	mat b11 = b, b12 = sub(b, 0, h), b21 = sub(b, h, 0), b22 = sub(b, h, h);
	mat c11 = c, c12 = sub(c, 0, h), c21 = sub(c, h, 0), c22 = sub(c, h, h);
	mat s = fresh(h), t = fresh(h), u = fresh(h), v = fresh(h);

	comb(s, a11, a21, h, 1);          /* S3 */
	comb(t, b22, b12, h, 1);          /* T3 */
	mul(c21, s, t, h);                /* P7 */
	comb(s, a21, a22, h, 0);          /* S1 */
	comb(t, b12, b11, h, 1);          /* T1 */
	mul(c22, s, t, h);                /* P5 */
	comb(s, s, a11, h, 1);            /* S2 */
	comb(t, b22, t, h, 1);            /* T2 */
	mul(u, s, t, h);                  /* P6 */
	mul(v, a11, b11, h);              /* P1 */
	comb(u, u, v, h, 0);              /* U2 = P1 + P6 */
	comb(c21, c21, u, h, 0);          /* U3 */
	comb(u, u, c22, h, 0);            /* U4 */
	comb(c22, c22, c21, h, 0);        /* U7 = C22 */
	comb(s, a12, s, h, 1);            /* S4 */
	mul(c12, s, b22, h);              /* P3 */
	comb(c12, c12, u, h, 0);          /* U5 = C12 */
	comb(t, t, b21, h, 1);            /* T4 */
	mul(u, a22, t, h);                /* P4 */
	comb(c21, c21, u, h, 1);          /* U6 = C21 */
	mul(u, a12, b21, h);              /* P2 */
	comb(c11, v, u, h, 0);            /* C11 */
	top = mark;

	if (e < n) {                      /* last row and column */
		gemm(c, sub(a, 0, e), sub(b, e, 0), e, e, 1);
		for (int i = 0; i < n; i++) c.p[i * c.ld + e] = c.p[e * c.ld + i] = 0;
		gemm(sub(c, 0, e), a, sub(b, 0, e), e, 1, n);
		gemm(sub(c, e, 0), sub(a, e, 0), b, 1, n, n);
	}
}

void strassen_product(elt a[N * N], elt b[N * N], elt c[N * N])
{
	top = 0;
	mul((mat){ c, N }, (mat){ a, N }, (mat){ b, N }, N);
}
