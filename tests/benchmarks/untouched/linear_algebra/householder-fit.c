#include <math.h>
#include <stdbool.h>

#ifndef M
#define M 20
#endif
#ifndef N
#define N 6
#endif

// Sensor calibration: overdetermined system, QR by Householder reflections with
// column pivoting. Columns that are (nearly) dependent get a zero coefficient.

static float Norm(float a[M][N], int col, int from)
{
    float sum = 0.0f;
    for (int i = from; i < M; i++)
        sum += a[i][col] * a[i][col];
    return sum;
}

static void SwapColumns(float a[M][N], int order[N], int j, int k)
{
    if (j == k)
        return;
    for (int i = 0; i < M; i++) {
        float t = a[i][j];
        a[i][j] = a[i][k];
        a[i][k] = t;
    }
    int t = order[j];
    order[j] = order[k];
    order[k] = t;
}

// a and b are overwritten. Returns the rank; misfit is the sum of squares.
int HouseholderFit(float a[M][N], float b[M], float x[N], float tolerance, float *misfit)
{
    int order[N];
    int rank = 0;
    float first = 0.0f;

    for (int j = 0; j < N; j++)
        order[j] = j;

    for (int k = 0; k < N && k < M; k++) {
        int pivot = k;
        float best = Norm(a, k, k);

        for (int j = k + 1; j < N; j++) {
            float n = Norm(a, j, k);
            if (n > best) {
                best = n;
                pivot = j;
            }
        }
        if (k == 0)
            first = best;
        if (best <= tolerance * tolerance * first || best < 1e-12f)
            break;
        SwapColumns(a, order, k, pivot);

        // v = column + sign * |column| e_k, kept in place of the column
        float alpha = a[k][k] > 0.0f ? -sqrtf(best) : sqrtf(best);
        a[k][k] -= alpha;
        float vv = Norm(a, k, k);

        for (int j = k + 1; j <= N; j++) {
            bool rhs = j == N;
            float dot = 0.0f;

            for (int i = k; i < M; i++)
                dot += a[i][k] * (rhs ? b[i] : a[i][j]);
            dot = 2.0f * dot / vv;
            for (int i = k; i < M; i++) {
                if (rhs)
                    b[i] -= dot * a[i][k];
                else
                    a[i][j] -= dot * a[i][k];
            }
        }
        a[k][k] = alpha;
        rank++;
    }

    // R is in the upper triangle now, but below the diagonal rubbish is left
    for (int j = 0; j < N; j++)
        x[j] = 0.0f;
    for (int k = rank - 1; k >= 0; k--) {
        float sum = b[k];
        for (int j = k + 1; j < rank; j++)
            sum -= a[k][j] * x[order[j]];
        x[order[k]] = sum / a[k][k];
    }

    *misfit = 0.0f;
    for (int i = rank; i < M; i++)
        *misfit += b[i] * b[i];
    return rank;
}
