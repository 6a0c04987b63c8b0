#define ROWS 9
#define COLUMNS 9
#define FILTERS 4
#define REDUCED 2
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

static void conv2d(short x[2][ROWS][COLUMNS], short weight[FILTERS][2][3][3], short bias[FILTERS], unsigned char rows, unsigned char columns,
                  short out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < 2; k++) {
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

static void relu(short x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = x[k][r][c] > 0 ? x[k][r][c] : 0;
            }
        }
    }
}

static void global_average_pool(short x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[FILTERS]) {
    for (int k = 0; k < FILTERS; k++) {
        int sum = 0;
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                sum += x[k][r][c];
            }
        }
        out[k] = sum / (rows * columns);
    }
}

static void global_max_pool(short x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[FILTERS]) {
    for (int k = 0; k < FILTERS; k++) {
        int best = x[k][0][0];
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                best = x[k][r][c] > best ? x[k][r][c] : best;
            }
        }
        out[k] = best;
    }
}

static void squeeze_excite(short x[FILTERS], short squeeze[REDUCED][FILTERS], short excite[FILTERS][REDUCED], short out[FILTERS]) {
    int hidden[REDUCED];
    for (int i = 0; i < REDUCED; i++) {
        int sum = 0;
        for (int k = 0; k < FILTERS; k++) {
            sum += x[k] * squeeze[i][k];
        }
        int value = requantise(sum);
        hidden[i] = value > 0 ? value : 0;
    }
    for (int k = 0; k < FILTERS; k++) {
        int sum = 0;
        for (int i = 0; i < REDUCED; i++) {
            sum += hidden[i] * excite[k][i];
        }
        out[k] = requantise(sum);
    }
}

static void sigmoid_gate(short x[FILTERS], short y[FILTERS], short out[FILTERS]) {
    for (int k = 0; k < FILTERS; k++) {
        out[k] = sigmoid(x[k] + y[k]);
    }
}

static void scale_channels(short x[FILTERS][ROWS][COLUMNS], short gate[FILTERS], unsigned char rows, unsigned char columns, short out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = requantise(x[k][r][c] * gate[k]);
            }
        }
    }
}

static void channel_pool(short x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[2][ROWS][COLUMNS]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            int sum = 0;
            int best = x[0][r][c];
            for (int k = 0; k < FILTERS; k++) {
                sum += x[k][r][c];
                if (x[k][r][c] > best) {
                    best = x[k][r][c];
                }
            }
            out[0][r][c] = sum / FILTERS;
            out[1][r][c] = best;
        }
    }
}

static void conv2d_2(short x[2][ROWS][COLUMNS], short weight[1][2][3][3], short bias[1], unsigned char rows, unsigned char columns,
                  short out[1][ROWS][COLUMNS]) {
    for (int m = 0; m < 1; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int sum = bias[m] * SCALE;
                for (int k = 0; k < 2; k++) {
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

static void scale_positions(short x[FILTERS][ROWS][COLUMNS], short map[1][ROWS][COLUMNS], unsigned char rows, unsigned char columns, short out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = requantise(x[k][r][c] * sigmoid(map[0][r][c]));
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

void cbam(
    short x[2][ROWS][COLUMNS],
    short w_0[FILTERS][2][3][3],
    short b_0[FILTERS],
    short w_squeeze[REDUCED][FILTERS],
    short w_excite[FILTERS][REDUCED],
    short w_spatial[1][2][3][3],
    short b_spatial[1],
    unsigned char rows,
    unsigned char columns,
    short first[FILTERS][ROWS][COLUMNS],
    short active[FILTERS][ROWS][COLUMNS],
    short average[FILTERS],
    short largest[FILTERS],
    short from_average[FILTERS],
    short from_largest[FILTERS],
    short channel_gate[FILTERS],
    short refined[FILTERS][ROWS][COLUMNS],
    short pooled[2][ROWS][COLUMNS],
    short spatial[1][ROWS][COLUMNS],
    short attended[FILTERS][ROWS][COLUMNS],
    short y[FILTERS][ROWS][COLUMNS]) {
    conv2d(x, w_0, b_0, rows, columns, first);
    relu(first, rows, columns, active);
    global_average_pool(active, rows, columns, average);
    global_max_pool(active, rows, columns, largest);
    squeeze_excite(average, w_squeeze, w_excite, from_average);
    squeeze_excite(largest, w_squeeze, w_excite, from_largest);
    sigmoid_gate(from_average, from_largest, channel_gate);
    scale_channels(active, channel_gate, rows, columns, refined);
    channel_pool(refined, rows, columns, pooled);
    conv2d_2(pooled, w_spatial, b_spatial, rows, columns, spatial);
    scale_positions(refined, spatial, rows, columns, attended);
    add(attended, first, rows, columns, y);
}
