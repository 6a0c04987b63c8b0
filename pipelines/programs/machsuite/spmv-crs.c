/* y = A x, A in compressed rows of float: bounds of the inner loop from memory. */
#ifndef ROWS
#define ROWS 16
#endif
#ifndef COLUMNS
#define COLUMNS 16
#endif
#ifndef NONZEROS
#define NONZEROS 64
#endif

void spmv_crs(int first[ROWS + 1], int column[NONZEROS], float value[NONZEROS], float x[COLUMNS],
              float y[ROWS])
{
    for (int row = 0; row < ROWS; row++) {
        float sum = 0.0f;

        for (int e = first[row]; e < first[row + 1]; e++) {
            sum += value[e] * x[column[e]];
        }
        y[row] = sum;
    }
}
