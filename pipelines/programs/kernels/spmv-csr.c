/* y = A x, A in compressed sparse rows: row r holds entries first[r] .. first[r + 1] - 1. */
#ifndef ROWS
#define ROWS 12
#endif
#ifndef COLUMNS
#define COLUMNS 16
#endif
#ifndef NONZEROS
#define NONZEROS 48
#endif

void kernel_spmv_csr(int first[ROWS + 1], int column[NONZEROS], int value[NONZEROS], int x[COLUMNS],
                     int y[ROWS])
{
    for (int r = 0; r < ROWS; r++) {
        int sum = 0;
        for (int e = first[r]; e < first[r + 1]; e++) {
            sum += value[e] * x[column[e]];
        }
        y[r] = sum;
    }
}
