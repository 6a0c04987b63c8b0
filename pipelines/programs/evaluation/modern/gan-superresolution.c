#define ROWS 6
#define COLUMNS 6
#define TALL 12
#define WIDE 12
#define FILTERS 2
#define SHUFFLED 4
#define FRACTION 8
#define SCALE 256

static int saturate(int value) {
    return value > 4095 ? 4095 : value < -4095 ? -4095 : value;
}

static int requantise(int sum) {
    return saturate(sum >> FRACTION);
}

static const short SIGMOID[64] = {
    128, 136, 144, 152, 159, 167, 174, 181, 187, 193, 199, 204, 209, 214, 218, 222,
    225, 229, 232, 234, 237, 239, 241, 242, 244, 245, 246, 248, 248, 249, 250, 251,
    251, 252, 252, 253, 253, 254, 254, 254, 254, 254, 255, 255, 255, 255, 255, 255,
    255, 255, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256};

static short sigmoid(short value) {
    short index = (value < 0 ? -value : value) >> (FRACTION - 3);
    short part = SIGMOID[index > 63 ? 63 : index];
    return value < 0 ? SCALE - part : part;
}

static void conv2d(short x[1][ROWS][COLUMNS], short weight[FILTERS][1][3][3], short bias[FILTERS], unsigned char rows, unsigned char columns,
                  short out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < 1; k++) {
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

static void prelu(short x[FILTERS][ROWS][COLUMNS], short slope[FILTERS], unsigned char rows, unsigned char columns, short out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = x[k][r][c] > 0 ? x[k][r][c] : requantise(x[k][r][c] * slope[k]);
            }
        }
    }
}

static void conv2d_2(short x[FILTERS][ROWS][COLUMNS], short weight[FILTERS][FILTERS][3][3], short bias[FILTERS], unsigned char rows, unsigned char columns,
                  short out[FILTERS][ROWS][COLUMNS]) {
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

static void batch_norm(short x[FILTERS][ROWS][COLUMNS], short gain[FILTERS], short bias[FILTERS], unsigned char rows, unsigned char columns, short out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = requantise(x[k][r][c] * gain[k] + bias[k] * SCALE);
            }
        }
    }
}

static void add(short x[FILTERS][ROWS][COLUMNS], short y[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = saturate(x[k][r][c] + y[k][r][c]);
            }
        }
    }
}

static void conv2d_3(short x[FILTERS][ROWS][COLUMNS], short weight[SHUFFLED][FILTERS][3][3], short bias[SHUFFLED], unsigned char rows, unsigned char columns,
                  short out[SHUFFLED][ROWS][COLUMNS]) {
    for (int m = 0; m < SHUFFLED; m++) {
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

static void pixel_shuffle(short x[1 * 4][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[1][ROWS * 2][COLUMNS * 2]) {
    for (int k = 0; k < 1; k++) {
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                for (int r = 0; r < rows; r++) {
                    for (int c = 0; c < columns; c++) {
                        out[k][2 * r + i][2 * c + j] = x[4 * k + 2 * i + j][r][c];
                    }
                }
            }
        }
    }
}

static void prelu_2(short x[1][TALL][WIDE], short slope[1], unsigned char rows, unsigned char columns, short out[1][TALL][WIDE]) {
    for (int k = 0; k < 1; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = x[k][r][c] > 0 ? x[k][r][c] : requantise(x[k][r][c] * slope[k]);
            }
        }
    }
}

static void conv2d_4(short x[1][TALL][WIDE], short weight[1][1][3][3], short bias[1], unsigned char rows, unsigned char columns,
                  short out[1][TALL][WIDE]) {
    for (int m = 0; m < 1; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < 1; k++) {
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

static void tanh_image(short x[1][TALL][WIDE], unsigned char rows, unsigned char columns, short out[1][TALL][WIDE]) {
    for (int k = 0; k < 1; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = 2 * sigmoid(2 * x[k][r][c]) - SCALE;
            }
        }
    }
}

void gan_superresolution(
    short x[1][ROWS][COLUMNS],
    short w_0[FILTERS][1][3][3],
    short b_0[FILTERS],
    short slope_0[FILTERS],
    short w_1[FILTERS][FILTERS][3][3],
    short b_1[FILTERS],
    short gain_0[FILTERS],
    short b_2[FILTERS],
    short slope_1[FILTERS],
    short w_2[FILTERS][FILTERS][3][3],
    short b_3[FILTERS],
    short gain_1[FILTERS],
    short b_4[FILTERS],
    short w_3[SHUFFLED][FILTERS][3][3],
    short b_5[SHUFFLED],
    short slope_2[1],
    short w_4[1][1][3][3],
    short b_6[1],
    unsigned char rows,
    unsigned char columns,
    short t0[FILTERS][ROWS][COLUMNS],
    short t1[FILTERS][ROWS][COLUMNS],
    short t2[FILTERS][ROWS][COLUMNS],
    short t3[FILTERS][ROWS][COLUMNS],
    short t4[FILTERS][ROWS][COLUMNS],
    short t5[FILTERS][ROWS][COLUMNS],
    short t6[FILTERS][ROWS][COLUMNS],
    short t7[FILTERS][ROWS][COLUMNS],
    short t8[SHUFFLED][ROWS][COLUMNS],
    short t9[1][ROWS * 2][COLUMNS * 2],
    short t10[1][TALL][WIDE],
    short t11[1][TALL][WIDE],
    short image[1][TALL][WIDE]) {
    conv2d(x, w_0, b_0, rows, columns, t0);
    prelu(t0, slope_0, rows, columns, t1);
    conv2d_2(t1, w_1, b_1, rows, columns, t2);
    batch_norm(t2, gain_0, b_2, rows, columns, t3);
    prelu(t3, slope_1, rows, columns, t4);
    conv2d_2(t4, w_2, b_3, rows, columns, t5);
    batch_norm(t5, gain_1, b_4, rows, columns, t6);
    add(t6, t1, rows, columns, t7);
    conv2d_3(t7, w_3, b_5, rows, columns, t8);
    pixel_shuffle(t8, rows, columns, t9);
    prelu_2(t9, slope_2, rows*2, columns*2, t10);
    conv2d_4(t10, w_4, b_6, rows*2, columns*2, t11);
    tanh_image(t11, rows*2, columns*2, image);
}
