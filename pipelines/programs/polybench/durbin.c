/* Levinson-Durbin: y solves the Toeplitz system of r. */
#include <stdio.h>
#include <unistd.h>
#include <string.h>
#include <math.h>

#include <polybench.h>

#include "durbin.h"

static void init_array(int n, DATA_TYPE POLYBENCH_1D(r, N, n))
{
    int i;

    for (i = 0; i < n; i++) {
        r[i] = NUMBER(n - i) / (2 * n * n);
    }
}

static void print_array(int n, DATA_TYPE POLYBENCH_1D(y, N, n))
{
    int i;

    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("y");
    for (i = 0; i < n; i++) {
        if (i % 20 == 0) {
            fprintf(POLYBENCH_DUMP_TARGET, "\n");
        }
        fprintf(POLYBENCH_DUMP_TARGET, DATA_PRINTF_MODIFIER, y[i]);
    }
    POLYBENCH_DUMP_END("y");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_durbin(int n, DATA_TYPE POLYBENCH_1D(r, N, n), DATA_TYPE POLYBENCH_1D(y, N, n))
{
    DATA_TYPE z[N];
    DATA_TYPE alpha;
    DATA_TYPE beta;
    DATA_TYPE sum;

    int i, k;

#pragma scop
    y[0] = -r[0];
    beta = SCALAR_VAL(1.0);
    alpha = -r[0];

    for (k = 1; k < _PB_N; k++) {
        beta = MUL_FUN(SCALAR_VAL(1.0) - MUL_FUN(alpha, alpha), beta);
        sum = SCALAR_VAL(0.0);
        for (i = 0; i < k; i++) {
            sum += MUL_FUN(r[k - i - 1], y[i]);
        }
        alpha = -DIV_FUN(r[k] + sum, beta);

        for (i = 0; i < k; i++) {
            z[i] = y[i] + MUL_FUN(alpha, y[k - i - 1]);
        }
        for (i = 0; i < k; i++) {
            y[i] = z[i];
        }
        y[k] = alpha;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(r, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);

    init_array(n, POLYBENCH_ARRAY(r));
    polybench_start_instruments;
    kernel_durbin(n, POLYBENCH_ARRAY(r), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(print_array(n, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(r);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
