/* block tridiagonal solve, 3x3 blocks (pressure / velocity / temperature along a pipe) */
#include <stddef.h>

#ifndef CELLS
#define CELLS 40
#endif

typedef struct { float m[3][3]; } m3;
typedef struct { float v[3]; } v3;

static m3 inv3(const m3 *a)
{
    const float (*m)[3] = a->m;
    m3 r;
    r.m[0][0] = m[1][1] * m[2][2] - m[1][2] * m[2][1];
    r.m[0][1] = m[0][2] * m[2][1] - m[0][1] * m[2][2];
    r.m[0][2] = m[0][1] * m[1][2] - m[0][2] * m[1][1];
    r.m[1][0] = m[1][2] * m[2][0] - m[1][0] * m[2][2];
    r.m[1][1] = m[0][0] * m[2][2] - m[0][2] * m[2][0];
    r.m[1][2] = m[0][2] * m[1][0] - m[0][0] * m[1][2];
    r.m[2][0] = m[1][0] * m[2][1] - m[1][1] * m[2][0];
    r.m[2][1] = m[0][1] * m[2][0] - m[0][0] * m[2][1];
    r.m[2][2] = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    float det = m[0][0] * r.m[0][0] + m[0][1] * r.m[1][0] + m[0][2] * r.m[2][0];
    float s = 1.0f / det;
    for (int i = 0; i < 9; ++i) r.m[i / 3][i % 3] *= s;
    return r;
}

static m3 mul3(const m3 *a, const m3 *b)
{
    m3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return r;
}

static v3 apply(const m3 *a, const v3 *x)
{
    v3 r;
    for (int i = 0; i < 3; ++i)
        r.v[i] = a->m[i][0] * x->v[0] + a->m[i][1] * x->v[1] + a->m[i][2] * x->v[2];
    return r;
}

static m3 sub3(m3 a, m3 b)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) a.m[i][j] -= b.m[i][j];
    return a;
}

static m3 load(const float *p, float dominance)
{
    m3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r.m[i][j] = *p++ + (i == j ? dominance : 0.0f);
    return r;
}

/* coefficients: per cell 27 numbers, sub, diagonal, super, row major */
void pipe_step(const float *coef, const float *rhs, float *x)
{
    static m3 gamma[CELLS];
    static v3 y[CELLS];

    for (size_t i = 0; i < CELLS; ++i, coef += 27, rhs += 3) {
        m3 b = load(coef + 9, 4.0f), c = load(coef + 18, 0.0f);
        v3 d = { { rhs[0], rhs[1], rhs[2] } };
        if (i) {
            m3 a = load(coef, 0.0f);
            b = sub3(b, mul3(&a, &gamma[i - 1]));
            v3 t = apply(&a, &y[i - 1]);
            for (int k = 0; k < 3; ++k) d.v[k] -= t.v[k];
        }
        m3 ib = inv3(&b);
        gamma[i] = mul3(&ib, &c);
        y[i] = apply(&ib, &d);
    }
    for (size_t i = CELLS; i-- > 0;) {
        if (i + 1 < CELLS) {
            v3 t = apply(&gamma[i], &y[i + 1]);
            for (int k = 0; k < 3; ++k) y[i].v[k] -= t.v[k];
        }
        for (int k = 0; k < 3; ++k) x[3 * i + (size_t)k] = y[i].v[k];
    }
}
