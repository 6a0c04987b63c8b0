#define ROWS 9
#define COLUMNS 9
#define HALF_ROWS 4
#define HALF_COLUMNS 4
#define FILTERS 2
#define CLASSES 5

static void normalise_image(unsigned char image[3][ROWS][COLUMNS], float mean[3], float inverse[3], unsigned char rows, unsigned char columns,
                  float out[3][ROWS][COLUMNS]) {
    for (int k = 0; k < 3; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = (image[k][r][c] * (1.0f / 255.0f) - mean[k]) * inverse[k];
            }
        }
    }
}

static void conv2d(float x[3][ROWS][COLUMNS], float weight[FILTERS][3][3][3], float bias[FILTERS], unsigned char rows, unsigned char columns,
                  float out[FILTERS][ROWS][COLUMNS]) {
    for (int m = 0; m < FILTERS; m++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                float sum = bias[m];
                for (int k = 0; k < 3; k++) {
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

static void batch_norm(float x[FILTERS][ROWS][COLUMNS], float gain[FILTERS], float bias[FILTERS], unsigned char rows, unsigned char columns, float out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = (x[k][r][c] * gain[k] + bias[k]);
            }
        }
    }
}

static void relu(float x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, float out[FILTERS][ROWS][COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = x[k][r][c] > 0 ? x[k][r][c] : 0;
            }
        }
    }
}

static void max_pool2d(float x[FILTERS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, float out[FILTERS][ROWS / 2][COLUMNS / 2]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows / 2; r++) {
            for (int c = 0; c < columns / 2; c++) {
                float best = x[k][2 * r][2 * c];
                for (int i = 0; i < 2; i++) {
                    for (int j = 0; j < 2; j++) {
                        if (x[k][2 * r + i][2 * c + j] > best) {
                            best = x[k][2 * r + i][2 * c + j];
                        }
                    }
                }
                out[k][r][c] = best;
            }
        }
    }
}

static void conv2d_2(float x[FILTERS][HALF_ROWS][HALF_COLUMNS], float weight[FILTERS][FILTERS][3][3], float bias[FILTERS], unsigned char rows, unsigned char columns,
                  float out[FILTERS][HALF_ROWS][HALF_COLUMNS]) {
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

static void relu_2(float x[FILTERS][HALF_ROWS][HALF_COLUMNS], unsigned char rows, unsigned char columns, float out[FILTERS][HALF_ROWS][HALF_COLUMNS]) {
    for (int k = 0; k < FILTERS; k++) {
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                out[k][r][c] = x[k][r][c] > 0 ? x[k][r][c] : 0;
            }
        }
    }
}

static void classifier(float x[FILTERS][HALF_ROWS][HALF_COLUMNS], float weight[CLASSES][FILTERS][HALF_ROWS][HALF_COLUMNS], float bias[CLASSES], unsigned char rows, unsigned char columns,
                  float out[CLASSES]) {
    for (int m = 0; m < CLASSES; m++) {
        float sum = bias[m];
        for (int k = 0; k < FILTERS; k++) {
            for (int r = 0; r < rows; r++) {
                for (int c = 0; c < columns; c++) {
                    sum += x[k][r][c] * weight[m][k][r][c];
                }
            }
        }
        out[m] = sum;
    }
}

void image_norm_cnn(
    unsigned char image[3][ROWS][COLUMNS],
    float mean[3],
    float inverse[3],
    float w_first[FILTERS][3][3][3],
    float b_first[FILTERS],
    float gain_0[FILTERS],
    float b_0[FILTERS],
    float w_second[FILTERS][FILTERS][3][3],
    float b_second[FILTERS],
    float w_out[CLASSES][FILTERS][HALF_ROWS][HALF_COLUMNS],
    float b_out[CLASSES],
    unsigned char rows,
    unsigned char columns,
    float normalised[3][ROWS][COLUMNS],
    float first[FILTERS][ROWS][COLUMNS],
    float scaled[FILTERS][ROWS][COLUMNS],
    float active[FILTERS][ROWS][COLUMNS],
    float pooled[FILTERS][ROWS / 2][COLUMNS / 2],
    float second[FILTERS][HALF_ROWS][HALF_COLUMNS],
    float features[FILTERS][HALF_ROWS][HALF_COLUMNS],
    float logits[CLASSES]) {
    normalise_image(image, mean, inverse, rows, columns, normalised);
    conv2d(normalised, w_first, b_first, rows, columns, first);
    batch_norm(first, gain_0, b_0, rows, columns, scaled);
    relu(scaled, rows, columns, active);
    max_pool2d(active, rows, columns, pooled);
    conv2d_2(pooled, w_second, b_second, rows/2, columns/2, second);
    relu_2(second, rows/2, columns/2, features);
    classifier(features, w_out, b_out, rows/2, columns/2, logits);
}
