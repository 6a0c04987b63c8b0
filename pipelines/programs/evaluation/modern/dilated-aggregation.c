#define ROWS 6
#define COLUMNS 6
#define FILTERS 2
#define CLASSES 3

static void conv2d(float x[FILTERS][ROWS][COLUMNS], float weight[FILTERS][FILTERS][3][3], float bias[FILTERS], unsigned char rows, unsigned char columns,
                  float out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = bias[m];
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
                out[m][r][c] = sum;
            }
        }
    }
}

static void conv2d_2(float x[FILTERS][ROWS][COLUMNS], float weight[FILTERS][FILTERS][3][3], float bias[FILTERS], unsigned char rows, unsigned char columns,
                  float out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = bias[m];
                for (int k = 0; k < FILTERS; k++) {
                    for (int i = 0; i < 3; i++) {
                        int y = r + (i - 3 / 2) * 2;
                        if (y < 0 || y >= rows) {
                            continue;
                        }
                        for (int j = 0; j < 3; j++) {
                            int z = c + (j - 3 / 2) * 2;
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

static void conv2d_3(float x[FILTERS][ROWS][COLUMNS], float weight[FILTERS][FILTERS][3][3], float bias[FILTERS], unsigned char rows, unsigned char columns,
                  float out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = bias[m];
                for (int k = 0; k < FILTERS; k++) {
                    for (int i = 0; i < 3; i++) {
                        int y = r + (i - 3 / 2) * 3;
                        if (y < 0 || y >= rows) {
                            continue;
                        }
                        for (int j = 0; j < 3; j++) {
                            int z = c + (j - 3 / 2) * 3;
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

static void aggregate(float near[FILTERS][ROWS][COLUMNS], float middle[FILTERS][ROWS][COLUMNS], float far[FILTERS][ROWS][COLUMNS], float weight[3][FILTERS], unsigned char rows,
                  unsigned char columns, float out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = near[k][r][c] * weight[0][k];
                sum += middle[k][r][c] * weight[1][k];
                sum += far[k][r][c] * weight[2][k];
                float value = sum;
                out[k][r][c] = value > 0 ? value : 0;
            }
        }
    }
}

static void pointwise_conv2d(float x[FILTERS][ROWS][COLUMNS], float weight[CLASSES][FILTERS], float bias[CLASSES], unsigned char rows, unsigned char columns, unsigned char channels,
                  float out[CLASSES][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int m = 0; m < channels; m++) {
                float sum = bias[m];
                for (int k = 0; k < FILTERS; k++) {
                    sum += x[k][r][c] * weight[m][k];
                }
                out[m][r][c] = sum;
            }
        }
    }
}

static void argmax_map(float x[CLASSES][ROWS][COLUMNS], unsigned char rows, unsigned char columns, unsigned char out[ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            int best = 0;
            for (int k = 1; k < CLASSES; k++) {
                if (x[k][r][c] > x[best][r][c]) {
                    best = k;
                }
            }
            out[r][c] = best;
        }
    }
}

void dilated_aggregation(
    float x[FILTERS][ROWS][COLUMNS],
    float w_0[FILTERS][FILTERS][3][3],
    float b_0[FILTERS],
    float w_1[FILTERS][FILTERS][3][3],
    float b_1[FILTERS],
    float w_2[FILTERS][FILTERS][3][3],
    float b_2[FILTERS],
    float w_3[3][FILTERS],
    float w_4[CLASSES][FILTERS],
    float b_4[CLASSES],
    unsigned char rows,
    unsigned char columns,
    float near[FILTERS][ROWS][COLUMNS],
    float middle[FILTERS][ROWS][COLUMNS],
    float far[FILTERS][ROWS][COLUMNS],
    float context[FILTERS][ROWS][COLUMNS],
    float score[CLASSES][ROWS][COLUMNS],
    unsigned char label[ROWS][COLUMNS]) {
    conv2d(x, w_0, b_0, rows, columns, near);
    conv2d_2(near, w_1, b_1, rows, columns, middle);
    conv2d_3(middle, w_2, b_2, rows, columns, far);
    aggregate(near, middle, far, w_3, rows, columns, context);
    pointwise_conv2d(context, w_4, b_4, rows, columns, CLASSES, score);
    argmax_map(score, rows, columns, label);
}
