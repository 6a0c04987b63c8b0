#define ROWS 9
#define COLUMNS 9
#define ANCHORS 3
#define BOXES 4
#define FILTERS 4
#define BINS 3
#define FRACTION 5
#define SCALE 32

static int saturate(int value) {
    return value > 127 ? 127 : value < -127 ? -127 : value;
}

static int requantise(int sum) {
    return saturate(sum >> FRACTION);
}

static void pointwise_conv2d(signed char x[FILTERS][ROWS][COLUMNS], signed char weight[ANCHORS][FILTERS], signed char bias[ANCHORS], unsigned char rows, unsigned char columns, unsigned char channels,
                  signed char out[ANCHORS][ROWS][COLUMNS]) {
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

static void decode_boxes(signed char distance[ANCHORS][4][ROWS][COLUMNS], signed char anchor[ANCHORS][2], unsigned char rows, unsigned char columns, unsigned char anchors,
                  short out[ROWS * COLUMNS * ANCHORS][4]) {
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int a = 0; a < anchors; a++) {
                int n = (r * columns + c) * anchors + a;
                for (int side = 0; side < 4; side++) {
                    short centre = (side & 1 ? c : r) * SCALE + SCALE / 2;
                    short reach = distance[a][side][r][c] * anchor[a][side & 1] >> FRACTION;
                    short end = (side & 1 ? columns : rows) * SCALE;
                    short place = side < 2 ? centre - reach : centre + reach;
                    out[n][side] = place < 0 ? 0 : place > end ? end : place;
                }
            }
        }
    }
}

static void select_top(signed char score[ANCHORS][ROWS][COLUMNS], unsigned char rows, unsigned char columns, unsigned char anchors, unsigned char boxes, short out[BOXES]) {
    signed char best[BOXES];
    unsigned char found = 0;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            for (int a = 0; a < anchors; a++) {
                signed char value = score[a][r][c];
                unsigned char place = found;
                while (place > 0 && value > best[place - 1]) {
                    if (place < boxes) {
                        best[place] = best[place - 1];
                        out[place] = out[place - 1];
                    }
                    place--;
                }
                if (place < boxes) {
                    best[place] = value;
                    out[place] = (r * columns + c) * anchors + a;
                    found += found < boxes;
                }
            }
        }
    }
}

static void suppress(short box[ROWS * COLUMNS * ANCHORS][4], short order[BOXES], unsigned char boxes, unsigned char out[BOXES]) {
    for (int i = 0; i < boxes; i++) {
        out[i] = 1;
        for (int j = 0; j < i; j++) {
            if (out[j] == 0) {
                continue;
            }
            int common = 1;
            int first = 1;
            int second = 1;
            for (int d = 0; d < 2; d++) {
                short from = box[order[i]][d];
                short other = box[order[j]][d];
                short to = box[order[i]][d + 2];
                short end = box[order[j]][d + 2];
                short low = from > other ? from : other;
                short high = to < end ? to : end;
                short side = high > low ? high - low : 0;
                common *= side;
                first *= to - from;
                second *= end - other;
            }
            if (3 * common > first + second) {
                out[i] = 0;
                break;
            }
        }
    }
}

static void roi_align(signed char x[FILTERS][ROWS][COLUMNS], short box[ROWS * COLUMNS * ANCHORS][4], short order[BOXES], unsigned char keep[BOXES],
                  unsigned char rows, unsigned char columns, unsigned char boxes, signed char out[BOXES][FILTERS][BINS][BINS]) {
    for (int b = 0; b < boxes; b++) {
        if (keep[b] == 0) {
            continue;
        }
        short n = order[b];
        short height = (box[n][2] - box[n][0]) / BINS;
        short width = (box[n][3] - box[n][1]) / BINS;
        for (int i = 0; i < BINS; i++) {
            short y = box[n][0] + ((2 * i + 1) * height >> 1) - SCALE / 2;
            y = y < 0 ? 0 : y > (rows - 1) * SCALE ? (rows - 1) * SCALE : y;
            unsigned char top = y >> FRACTION;
            unsigned char bottom = top + 1 < rows ? top + 1 : top;
            unsigned char down = y & (SCALE - 1);
            for (int j = 0; j < BINS; j++) {
                short z = box[n][1] + ((2 * j + 1) * width >> 1) - SCALE / 2;
                z = z < 0 ? 0 : z > (columns - 1) * SCALE ? (columns - 1) * SCALE : z;
                unsigned char left = z >> FRACTION;
                unsigned char right = left + 1 < columns ? left + 1 : left;
                unsigned char across = z & (SCALE - 1);
                for (int k = 0; k < FILTERS; k++) {
                    short above = x[k][top][left] * (SCALE - across) + x[k][top][right] * across;
                    short below = x[k][bottom][left] * (SCALE - across) + x[k][bottom][right] * across;
                    out[b][k][i][j] = (above * (SCALE - down) + below * down) >> (2 * FRACTION);
                }
            }
        }
    }
}

void anchor_roialign(
    signed char x[FILTERS][ROWS][COLUMNS],
    signed char w_score[ANCHORS][FILTERS],
    signed char b_score[ANCHORS],
    signed char distance[ANCHORS][4][ROWS][COLUMNS],
    signed char anchor[ANCHORS][2],
    unsigned char rows,
    unsigned char columns,
    unsigned char anchors,
    unsigned char boxes,
    signed char score[ANCHORS][ROWS][COLUMNS],
    short box[ROWS * COLUMNS * ANCHORS][4],
    short order[BOXES],
    unsigned char keep[BOXES],
    signed char y[BOXES][FILTERS][BINS][BINS]) {
    pointwise_conv2d(x, w_score, b_score, rows, columns, anchors, score);
    decode_boxes(distance, anchor, rows, columns, anchors, box);
    select_top(score, rows, columns, anchors, boxes, order);
    suppress(box, order, boxes, keep);
    roi_align(x, box, order, keep, rows, columns, boxes, y);
}
