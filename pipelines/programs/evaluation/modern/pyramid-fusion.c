#define ROWS 12
#define COLUMNS 12
#define FILTERS 2
#define FUSED 4
#define FRACTION 5
#define SCALE 32

static int saturate(int value) {
    return value > 127 ? 127 : value < -127 ? -127 : value;
}

static int requantise(int sum) {
    return saturate(sum >> FRACTION);
}

static void adaptive_pool2d(signed char x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, signed char out[FILTERS][1][1]) {
    for (int i = 0; i < 1; i++) {
        int top = i * rows / 1;
        int bottom = ((i + 1) * rows + 1 - 1) / 1;
        for (int j = 0; j < 1; j++) {
            int left = j * columns / 1;
            int right = ((j + 1) * columns + 1 - 1) / 1;
            for (int k = 0; k < FILTERS; k++) {
                int total = 0;
                for (int r = top; r < bottom; r++) {
                    for (int c = left; c < right; c++) {
                        total += x[k][r][c];
                    }
                }
                out[k][i][j] = total / ((bottom - top) * (right - left));
            }
        }
    }
}

static void adaptive_pool2d_2(signed char x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, signed char out[FILTERS][2][2]) {
    for (int i = 0; i < 2; i++) {
        int top = i * rows / 2;
        int bottom = ((i + 1) * rows + 2 - 1) / 2;
        for (int j = 0; j < 2; j++) {
            int left = j * columns / 2;
            int right = ((j + 1) * columns + 2 - 1) / 2;
            for (int k = 0; k < FILTERS; k++) {
                int total = 0;
                for (int r = top; r < bottom; r++) {
                    for (int c = left; c < right; c++) {
                        total += x[k][r][c];
                    }
                }
                out[k][i][j] = total / ((bottom - top) * (right - left));
            }
        }
    }
}

static void adaptive_pool2d_3(signed char x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, signed char out[FILTERS][4][4]) {
    for (int i = 0; i < 4; i++) {
        int top = i * rows / 4;
        int bottom = ((i + 1) * rows + 4 - 1) / 4;
        for (int j = 0; j < 4; j++) {
            int left = j * columns / 4;
            int right = ((j + 1) * columns + 4 - 1) / 4;
            for (int k = 0; k < FILTERS; k++) {
                int total = 0;
                for (int r = top; r < bottom; r++) {
                    for (int c = left; c < right; c++) {
                        total += x[k][r][c];
                    }
                }
                out[k][i][j] = total / ((bottom - top) * (right - left));
            }
        }
    }
}

static void resize_bins(signed char x[FILTERS][1][1], unsigned char rows, unsigned char columns, signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        int i = r * 1 / rows;
        for (int c = 0; c < columns; c++) {
            int j = c * 1 / columns;
            for (int k = 0; k < FILTERS; k++) {
                out[k][r][c] = x[k][i][j];
            }
        }
    }
}

static void resize_bins_2(signed char x[FILTERS][2][2], unsigned char rows, unsigned char columns, signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        int i = r * 2 / rows;
        for (int c = 0; c < columns; c++) {
            int j = c * 2 / columns;
            for (int k = 0; k < FILTERS; k++) {
                out[k][r][c] = x[k][i][j];
            }
        }
    }
}

static void resize_bins_3(signed char x[FILTERS][4][4], unsigned char rows, unsigned char columns, signed char out[FILTERS][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        int i = r * 4 / rows;
        for (int c = 0; c < columns; c++) {
            int j = c * 4 / columns;
            for (int k = 0; k < FILTERS; k++) {
                out[k][r][c] = x[k][i][j];
            }
        }
    }
}

static void concat4(signed char x0[FILTERS][ROWS][COLUMNS], signed char x1[FILTERS][ROWS][COLUMNS], signed char x2[FILTERS][ROWS][COLUMNS], signed char x3[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns,
                  signed char out[FILTERS + FILTERS + FILTERS + FILTERS][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int k = 0; k < FILTERS; k++) {
                out[k][r][c] = x0[k][r][c];
            }
            for (int k = 0; k < FILTERS; k++) {
                out[FILTERS + k][r][c] = x1[k][r][c];
            }
            for (int k = 0; k < FILTERS; k++) {
                out[FILTERS + FILTERS + k][r][c] = x2[k][r][c];
            }
            for (int k = 0; k < FILTERS; k++) {
                out[FILTERS + FILTERS + FILTERS + k][r][c] = x3[k][r][c];
            }
        }
    }
}

static void pointwise_conv2d(signed char x[8][ROWS][COLUMNS], signed char weight[FUSED][8], signed char bias[FUSED], unsigned char rows, unsigned char columns, unsigned char channels,
                  signed char out[FUSED][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int m = 0; m < channels; m++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < 8; k++) {
                    sum += x[k][r][c] * weight[m][k];
                }
                out[m][r][c] = requantise(sum);
            }
        }
    }
}

void pyramid_fusion(
    signed char x[FILTERS][ROWS][COLUMNS],
    signed char w_0[FUSED][8],
    signed char b_0[FUSED],
    unsigned char rows,
    unsigned char columns,
    signed char bins_1[FILTERS][1][1],
    signed char bins_2[FILTERS][2][2],
    signed char bins_4[FILTERS][4][4],
    signed char level_1[FILTERS][ROWS][COLUMNS],
    signed char level_2[FILTERS][ROWS][COLUMNS],
    signed char level_4[FILTERS][ROWS][COLUMNS],
    signed char pyramid[FILTERS + FILTERS + FILTERS + FILTERS][ROWS][COLUMNS],
    signed char y[FUSED][ROWS][COLUMNS]) {
    adaptive_pool2d(x, rows, columns, bins_1);
    adaptive_pool2d_2(x, rows, columns, bins_2);
    adaptive_pool2d_3(x, rows, columns, bins_4);
    resize_bins(bins_1, rows, columns, level_1);
    resize_bins_2(bins_2, rows, columns, level_2);
    resize_bins_3(bins_4, rows, columns, level_4);
    concat4(x, level_1, level_2, level_4, rows, columns, pyramid);
    pointwise_conv2d(pyramid, w_0, b_0, rows, columns, FUSED, y);
}
