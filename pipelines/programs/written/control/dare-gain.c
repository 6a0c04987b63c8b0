/* dare_gain - LQR gain for n states, two inputs, by the structured doubling
   algorithm; 2x2 inverses for the inputs, Gauss-Jordan for the states. */
#include <math.h>
#include <string.h>

#ifndef NS
#define NS 4
#endif
#define NI 2

typedef double mat[NS][NS];

static void mul(mat r, mat a, mat b) {
    mat t;
    for (int i = 0; i < NS; i++)
        for (int j = 0; j < NS; j++) {
            t[i][j] = 0;
            for (int k = 0; k < NS; k++) t[i][j] += a[i][k] * b[k][j];
        }
    memcpy(r, t, sizeof t);
}

static void transpose(mat r, mat a) {
    mat t;
    for (int i = 0; i < NS; i++)
        for (int j = 0; j < NS; j++) t[j][i] = a[i][j];
    memcpy(r, t, sizeof t);
}

/* r = (I + x)^-1; 0 when singular */
static int inverse_i_plus(mat r, mat x) {
    double w[NS][2 * NS];
    for (int i = 0; i < NS; i++)
        for (int j = 0; j < NS; j++) {
            w[i][j] = x[i][j] + (i == j);
            w[i][NS + j] = i == j;
        }
    for (int c = 0; c < NS; c++) {
        int p = c;
        for (int i = c + 1; i < NS; i++)
            if (fabs(w[i][c]) > fabs(w[p][c])) p = i;
        if (fabs(w[p][c]) < 1e-14) return 0;
        for (int j = 0; j < 2 * NS; j++) {
            double t = w[c][j];
            w[c][j] = w[p][j];
            w[p][j] = t;
        }
        double d = 1.0 / w[c][c];
        for (int j = 0; j < 2 * NS; j++) w[c][j] *= d;
        for (int i = 0; i < NS; i++) {
            double f = w[i][c];
            if (i == c || f == 0.0) continue;
            for (int j = c; j < 2 * NS; j++) w[i][j] -= f * w[c][j];
        }
    }
    for (int i = 0; i < NS; i++)
        for (int j = 0; j < NS; j++) r[i][j] = w[i][NS + j];
    return 1;
}

/* A (NS x NS), B (NS x 2), diagonal weights q and rr. P: cost matrix, Kg: 2 x NS gain.
   Returns doublings done, -1 on failure. */
int dare_gain(double A0[NS][NS], double B[NS][NI], const double q[NS], const double rr[NI],
              double P[NS][NS], double Kg[NI][NS]) {
    mat A, G, W, T, At;
    int it;

    for (int i = 0; i < NS; i++)
        for (int j = 0; j < NS; j++) {
            A[i][j] = 0.8 * A0[i][j] / (1.0 + 0.5 * NS) + (i == j) * 0.9;
            G[i][j] = B[i][0] * B[j][0] / rr[0] + B[i][1] * B[j][1] / rr[1];
            P[i][j] = i == j ? q[i] : 0.0;
        }
    mat Akeep;                          /* A is doubled away, keep it for the gain */
    memcpy(Akeep, A, sizeof A);

    for (it = 1; it <= 12; it++) {
        mat X, Gn, Pn;
        double change = 0, size = 0;

        mul(W, G, P);
        if (!inverse_i_plus(X, W)) return -1;      /* (I + G P)^-1 */
        transpose(At, A);
        mul(T, X, A);                              /* (I+GP)^-1 A */
        mul(Gn, X, G);
        mul(Gn, A, Gn);
        mul(Gn, Gn, At);
        mul(Pn, P, T);
        mul(Pn, At, Pn);
        mul(A, A, T);
        for (int i = 0; i < NS; i++)
            for (int j = 0; j < NS; j++) {
                G[i][j] += Gn[i][j];
                P[i][j] += Pn[i][j];
                change += fabs(Pn[i][j]);
                size += fabs(P[i][j]);
            }
        if (change < 1e-10 * size) break;
    }

    /* K = (R + B'PB)^-1 B'PA */
    double BP[NI][NS], s[NI][NI], BPA[NI][NS];
    for (int u = 0; u < NI; u++)
        for (int j = 0; j < NS; j++) {
            BP[u][j] = 0;
            for (int i = 0; i < NS; i++) BP[u][j] += B[i][u] * P[i][j];
        }
    for (int u = 0; u < NI; u++) {
        for (int v = 0; v < NI; v++) {
            s[u][v] = u == v ? rr[u] : 0.0;
            for (int j = 0; j < NS; j++) s[u][v] += BP[u][j] * B[j][v];
        }
        for (int j = 0; j < NS; j++) {
            BPA[u][j] = 0;
            for (int i = 0; i < NS; i++) BPA[u][j] += BP[u][i] * Akeep[i][j];
        }
    }
    double det = s[0][0] * s[1][1] - s[0][1] * s[1][0];
    if (fabs(det) < 1e-14) return -1;
    for (int j = 0; j < NS; j++) {
        Kg[0][j] = (s[1][1] * BPA[0][j] - s[0][1] * BPA[1][j]) / det;
        Kg[1][j] = (s[0][0] * BPA[1][j] - s[1][0] * BPA[0][j]) / det;
    }
    return it;
}
