// SOR sweeps on a band matrix kept by diagonals: diag[k][i] = A(i, i + k - BAND)
// stops when the largest update of a sweep is small, or gives up after MAXIT sweeps
#ifndef ORDER
#define ORDER 24
#endif
#ifndef BAND
#define BAND 2
#endif
#ifndef MAXIT
#define MAXIT 12
#endif

struct progress {
    int sweeps;
    float worst;
};

static float row_residual(float diag[2 * BAND + 1][ORDER], const float *x, float rhs, int row)
{
    float acc = rhs;
    int lo = row - BAND, hi = row + BAND;
    if (lo < 0) lo = 0;
    if (hi > ORDER - 1) hi = ORDER - 1;
    for (int col = lo; col <= hi; col++)
        acc -= diag[col - row + BAND][row] * x[col];
    return acc;
}

int sor_banded(float diag[2 * BAND + 1][ORDER], const float *rhs, float *x, float omega, float tolerance)
{
    struct progress p = {0, 0.0f};
    int i;

    /* make the rows dominant whatever the caller sent */
    for (i = 0; i < ORDER; i++) {
        float sum = 1.0f;
        for (int k = 0; k <= 2 * BAND; k++)
            if (k != BAND)
                sum += diag[k][i] < 0.0f ? -diag[k][i] : diag[k][i];
        if (diag[BAND][i] < sum)
            diag[BAND][i] = sum;
        x[i] = 0.0f;
    }

    do {
        p.worst = 0.0f;
        for (i = 0; i < ORDER; i++) {
            float step = omega * row_residual(diag, x, rhs[i], i) / diag[BAND][i];
            x[i] += step;
            if (step < 0.0f)
                step = -step;
            if (step > p.worst)
                p.worst = step;
        }
        p.sweeps++;
    } while (p.worst > tolerance && p.sweeps < MAXIT);

    return p.worst > tolerance ? -p.sweeps : p.sweeps;
}
