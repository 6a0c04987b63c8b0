#define ROWS 9
#define COLUMNS 9
#define FILTERS 2
#define WIDE 6
#define FRACTION 5
#define SCALE 32

static int saturate(int value) {
    return value > 127 ? 127 : value < -127 ? -127 : value;
}

static int requantise(int sum) {
    return saturate(sum >> FRACTION);
}

static void conv2d(signed char x[FILTERS][ROWS][COLUMNS], signed char weight[FILTERS][FILTERS][3][3], signed char bias[FILTERS], unsigned char rows, unsigned char columns,
                  signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < FILTERS; k++) {
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
                out[m][r][c] = requantise(sum);
            }
        }
    }
}

static void relu(signed char x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = x[k][r][c] > 0 ? x[k][r][c] : 0;
            }
        }
    }
}

static void add(signed char x[FILTERS][ROWS][COLUMNS], signed char y[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = saturate(x[k][r][c] + y[k][r][c]);
            }
        }
    }
}

static void depthwise_conv2d(signed char x[FILTERS][ROWS][COLUMNS], signed char weight[FILTERS][3][3], signed char bias[FILTERS], unsigned char rows, unsigned char columns,
                  signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int top = r < 3 / 2 ? 3 / 2 - r : 0;
                int bottom = rows - r + 3 / 2 < 3 ? rows - r + 3 / 2 : 3;
                int left = c < 3 / 2 ? 3 / 2 - c : 0;
                int right = columns - c + 3 / 2 < 3 ? columns - c + 3 / 2 : 3;
                int sum = bias[k] * SCALE;
                for (int i = top; i < bottom; i++) {
                    for (int j = left; j < right; j++) {
                        sum += x[k][r + i - 3 / 2][c + j - 3 / 2] * weight[k][i][j];
                    }
                }
                out[k][r][c] = requantise(sum);
            }
        }
    }
}

static void pointwise_conv2d(signed char x[FILTERS][ROWS][COLUMNS], signed char weight[WIDE][FILTERS], signed char bias[WIDE], unsigned char rows, unsigned char columns, unsigned char channels,
                  signed char out[WIDE][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int m = 0; m < channels; m++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < FILTERS; k++) {
                    sum += x[k][r][c] * weight[m][k];
                }
                out[m][r][c] = requantise(sum);
            }
        }
    }
}

void residual_depthwise(
    signed char x[FILTERS][ROWS][COLUMNS],
    signed char w_0[FILTERS][FILTERS][3][3],
    signed char b_0[FILTERS],
    signed char w_1[FILTERS][FILTERS][3][3],
    signed char b_1[FILTERS],
    signed char w_2[FILTERS][3][3],
    signed char b_2[FILTERS],
    signed char w_3[WIDE][FILTERS],
    signed char b_3[WIDE],
    unsigned char rows,
    unsigned char columns,
    unsigned char channels,
    signed char first[FILTERS][ROWS][COLUMNS],
    signed char active[FILTERS][ROWS][COLUMNS],
    signed char second[FILTERS][ROWS][COLUMNS],
    signed char joined[FILTERS][ROWS][COLUMNS],
    signed char deep[FILTERS][ROWS][COLUMNS],
    signed char y[WIDE][ROWS][COLUMNS]) {
    conv2d(x, w_0, b_0, rows, columns, first);
    relu(first, rows, columns, active);
    conv2d(active, w_1, b_1, rows, columns, second);
    add(second, x, rows, columns, joined);
    depthwise_conv2d(joined, w_2, b_2, rows, columns, deep);
    pointwise_conv2d(deep, w_3, b_3, rows, columns, channels, y);
}
