#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define N 4

bool invert(const double m[N][N], double inv[N][N])
{
    double a[N][2 * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = m[i][j];
            a[i][N + j] = i == j;
        }
    for (int c = 0; c < N; c++) {
        int p = c;
        for (int r = c + 1; r < N; r++)
            if (fabs(a[r][c]) > fabs(a[p][c]))
                p = r;
        if (fabs(a[p][c]) < 1e-9) {
            printf("singular\n");
            return false;
        }
        for (int j = 0; j < 2 * N; j++) {
            double t = a[c][j];
            a[c][j] = a[p][j];
            a[p][j] = t;
        }
        double d = a[c][c];
        for (int j = 0; j < 2 * N; j++)
            a[c][j] /= d;
        for (int r = 0; r < N; r++)
            if (r != c) {
                double f = a[r][c];
                for (int j = 0; j < 2 * N; j++)
                    a[r][j] -= f * a[c][j];
            }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            inv[i][j] = a[i][N + j];
    return true;
}
