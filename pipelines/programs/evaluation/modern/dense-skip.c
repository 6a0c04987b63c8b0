#define ROWS 6
#define COLUMNS 6
#define HALF_ROWS 3
#define HALF_COLUMNS 3
#define GROWTH 2
#define TWICE 4
#define THRICE 6

static void conv2d(float x[GROWTH][ROWS][COLUMNS], float weight[GROWTH][GROWTH][3][3], float bias[GROWTH], unsigned char rows, unsigned char columns,
                  float out[GROWTH][ROWS][COLUMNS]) {
    for (int m = 0; m < GROWTH; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = bias[m];
                for (int k = 0; k < GROWTH; k++) {
                    for (int i = 0; i < 3; i++) {
                        int y = r + (i - 3 / 2) * 1;
                        if (y < 0 || y >= rows) {
                            continue;
                        }
                        for (int j = 0; j < 3; j++) {
                            int z = c + (j - 3 / 2) * 1;
                            if (z >= 0 && z < columns) {
                                sum += x[k][y][z] * weight[m][k][i][j];
                            }
                        }
                    }
                }
                out[m][r][c] = sum;
            }
        }
    }
}

static void concat2(float x0[GROWTH][ROWS][COLUMNS], float x1[GROWTH][ROWS][COLUMNS], unsigned char rows, unsigned char columns,
                  float out[GROWTH + GROWTH][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int k = 0; k < GROWTH; k++) {
                out[k][r][c] = x0[k][r][c];
            }
            for (int k = 0; k < GROWTH; k++) {
                out[GROWTH + k][r][c] = x1[k][r][c];
            }
        }
    }
}

static void conv2d_2(float x[TWICE][ROWS][COLUMNS], float weight[GROWTH][TWICE][3][3], float bias[GROWTH], unsigned char rows, unsigned char columns,
                  float out[GROWTH][ROWS][COLUMNS]) {
    for (int m = 0; m < GROWTH; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = bias[m];
                for (int k = 0; k < TWICE; k++) {
                    for (int i = 0; i < 3; i++) {
                        int y = r + (i - 3 / 2) * 1;
                        if (y < 0 || y >= rows) {
                            continue;
                        }
                        for (int j = 0; j < 3; j++) {
                            int z = c + (j - 3 / 2) * 1;
                            if (z >= 0 && z < columns) {
                                sum += x[k][y][z] * weight[m][k][i][j];
                            }
                        }
                    }
                }
                out[m][r][c] = sum;
            }
        }
    }
}

static void concat2_2(float x0[TWICE][ROWS][COLUMNS], float x1[GROWTH][ROWS][COLUMNS], unsigned char rows, unsigned char columns,
                  float out[TWICE + GROWTH][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int k = 0; k < TWICE; k++) {
                out[k][r][c] = x0[k][r][c];
            }
            for (int k = 0; k < GROWTH; k++) {
                out[TWICE + k][r][c] = x1[k][r][c];
            }
        }
    }
}

static void pointwise_conv2d(float x[THRICE][ROWS][COLUMNS], float weight[GROWTH][THRICE], float bias[GROWTH], unsigned char rows, unsigned char columns, unsigned char channels,
                  float out[GROWTH][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int m = 0; m < channels; m++) {
                float sum = bias[m];
                for (int k = 0; k < THRICE; k++) {
                    sum += x[k][r][c] * weight[m][k];
                }
                out[m][r][c] = sum;
            }
        }
    }
}

static void average_pool2d(float x[GROWTH][ROWS][COLUMNS], unsigned char rows, unsigned char columns, float out[GROWTH][ROWS / 2][COLUMNS / 2]) {
    for (int k = 0; k < GROWTH; k++) {
        for (int r = 0; r < rows / 2; r++) {
            for (int c = 0; c < columns / 2; c++) {
                float sum = x[k][2 * r][2 * c] + x[k][2 * r][2 * c + 1];
                sum += x[k][2 * r + 1][2 * c] + x[k][2 * r + 1][2 * c + 1];
                out[k][r][c] = sum * 0.25f;
            }
        }
    }
}

static void upsample2d(float x[GROWTH][HALF_ROWS][HALF_COLUMNS], unsigned char rows, unsigned char columns, float out[GROWTH][HALF_ROWS * 2][HALF_COLUMNS * 2]) {
    for (int k = 0; k < GROWTH; k++) {
        for (int r = 0; r < rows * 2; r++) {
            for (int c = 0; c < columns * 2; c++) {
                out[k][r][c] = x[k][r >> 1][c >> 1];
            }
        }
    }
}

static void add(float x[GROWTH][ROWS][COLUMNS], float y[GROWTH][ROWS][COLUMNS], unsigned char rows, unsigned char columns, float out[GROWTH][ROWS][COLUMNS]) {
    for (int k = 0; k < GROWTH; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = (x[k][r][c] + y[k][r][c]);
            }
        }
    }
}

void dense_skip(
    float x[GROWTH][ROWS][COLUMNS],
    float w_0[GROWTH][GROWTH][3][3],
    float b_0[GROWTH],
    float w_1[GROWTH][TWICE][3][3],
    float b_1[GROWTH],
    float w_2[GROWTH][THRICE],
    float b_2[GROWTH],
    unsigned char rows,
    unsigned char columns,
    float first[GROWTH][ROWS][COLUMNS],
    float two[GROWTH + GROWTH][ROWS][COLUMNS],
    float second[GROWTH][ROWS][COLUMNS],
    float three[TWICE + GROWTH][ROWS][COLUMNS],
    float narrow[GROWTH][ROWS][COLUMNS],
    float small[GROWTH][ROWS / 2][COLUMNS / 2],
    float large[GROWTH][HALF_ROWS * 2][HALF_COLUMNS * 2],
    float y[GROWTH][ROWS][COLUMNS]) {
    conv2d(x, w_0, b_0, rows, columns, first);
    concat2(x, first, rows, columns, two);
    conv2d_2(two, w_1, b_1, rows, columns, second);
    concat2_2(two, second, rows, columns, three);
    pointwise_conv2d(three, w_2, b_2, rows, columns, GROWTH, narrow);
    average_pool2d(narrow, rows, columns, small);
    upsample2d(small, rows/2, columns/2, large);
    add(large, x, rows/2*2, columns/2*2, y);
}
