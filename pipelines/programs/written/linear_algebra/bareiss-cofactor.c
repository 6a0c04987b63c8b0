/* exact integer determinant and adjugate-free solve test: Bareiss elimination on [A | b] with int64,
   entries small enough: Hadamard bound for order 6 and |a| <= 20 is below 2^34. Many systems in a row. */
#include <stdint.h>
#ifndef ORDER
#define ORDER 6
#endif
#ifndef SYSTEMS
#define SYSTEMS 12
#endif

typedef long long i64;

enum verdict { REGULAR, SINGULAR };

struct result { i64 det; i64 num[ORDER]; enum verdict v; };

static i64 gcd(i64 a, i64 b)
{
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) { i64 t = a % b; a = b; b = t; }
    return a;
}

static enum verdict bareiss(i64 m[ORDER][ORDER + 1], i64 *det)
{
    i64 prev = 1;
    int sign = 1;

    for (int k = 0; k < ORDER; k++) {
        int p = k;
        while (p < ORDER && m[p][k] == 0) p++;
        if (p == ORDER) { *det = 0; return SINGULAR; }
        if (p != k) {
            for (int j = 0; j <= ORDER; j++) { i64 t = m[k][j]; m[k][j] = m[p][j]; m[p][j] = t; }
            sign = -sign;
        }
        /* two sided: rows above as well, so that the result is diagonal (fraction free Jordan) */
        for (int i = 0; i < ORDER; i++) {
            if (i == k) continue;
            i64 f = m[i][k];
            for (int j = 0; j <= ORDER; j++)
                m[i][j] = (m[k][k] * m[i][j] - f * m[k][j]) / prev;
        }
        prev = m[k][k];
    }
    *det = sign * prev;
    return REGULAR;
}

/* x_i = num_i / det in lowest common terms (one denominator for the whole vector) */
int exact_solve(const signed char *a, const signed char *b, i64 *dets, i64 *nums)
{
    int singular = 0;
    for (int s = 0; s < SYSTEMS; s++) {
        i64 m[ORDER][ORDER + 1];
        struct result r = { 0, {0}, REGULAR };
        for (int i = 0; i < ORDER; i++) {
            for (int j = 0; j < ORDER; j++) m[i][j] = *a++;
            m[i][ORDER] = *b++;
        }
        r.v = bareiss(m, &r.det);
        if (r.v == SINGULAR) {
            singular++;
        } else {
            i64 den = m[0][0], g = den;
            for (int i = 0; i < ORDER; i++) {
                r.num[i] = m[i][ORDER];
                g = gcd(g, r.num[i]);
            }
            if (den < 0) g = -g;
            for (int i = 0; i < ORDER; i++) r.num[i] /= g;
        }
        dets[s] = r.det;
        for (int i = 0; i < ORDER; i++) *nums++ = r.num[i];
    }
    return singular;
}

int main(void)
{
    static signed char a[SYSTEMS * ORDER * ORDER], b[SYSTEMS * ORDER];
    static i64 d[SYSTEMS], x[SYSTEMS * ORDER];
    for (int s = 0; s < SYSTEMS; s++)
        for (int i = 0; i < ORDER; i++) {
            a[(s * ORDER + i) * ORDER + i] = (signed char)(s % 7 - 2);      /* singular now and then */
            b[s * ORDER + i] = (signed char)i;
        }
    return exact_solve(a, b, d, x) ? 0 : 1;
}
