#define QUERIES 6
#define POINTS 3
#define OFFSETS 6
#define HIDDEN 8
#define INNER 12
#define VIEWS 2
#define ROWS 4
#define COLUMNS 5
#define FRACTION 5
#define SCALE 32

static int saturate(int value) {
    return value > 127 ? 127 : value < -127 ? -127 : value;
}

static int requantise(int sum) {
    return saturate(sum >> FRACTION);
}

static int root(unsigned short value) {
    unsigned short rest = value;
    unsigned short result = 0;
    unsigned short bit = 1 << 14;
    while (bit > rest) {
        bit >>= 2;
    }
    while (bit > 0) {
        if (rest >= result + bit) {
            rest -= result + bit;
            result = (result >> 1) + bit;
        } else {
            result >>= 1;
        }
        bit >>= 2;
    }
    return result;
}

static const short EXPONENTIAL[128] = {
    1024, 962, 904, 849, 797, 749, 704, 661, 621, 583, 548, 515, 484, 454, 427, 401,
    377, 354, 332, 312, 293, 276, 259, 243, 228, 215, 202, 189, 178, 167, 157, 148,
    139, 130, 122, 115, 108, 101, 95, 89, 84, 79, 74, 70, 65, 61, 58, 54,
    51, 48, 45, 42, 40, 37, 35, 33, 31, 29, 27, 26, 24, 23, 21, 20,
    19, 18, 17, 16, 15, 14, 13, 12, 11, 11, 10, 9, 9, 8, 8, 7,
    7, 6, 6, 6, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 3,
    3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};

static short exponential(int distance) {
    short index = distance >> (FRACTION - 4);
    return EXPONENTIAL[index > 127 ? 127 : index];
}

static void linear(signed char x[QUERIES][HIDDEN], signed char weight[OFFSETS][HIDDEN], signed char bias[OFFSETS], unsigned char tokens, signed char out[QUERIES][OFFSETS]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < OFFSETS; m++) {
            int sum = bias[m] * SCALE;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[m][k];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void point_weights(signed char x[QUERIES][HIDDEN], signed char weight[POINTS][HIDDEN], unsigned char queries, unsigned char points, signed char out[QUERIES][POINTS]) {
    for (int n = 0; n < queries; n++) {
        short score[POINTS];
        short best = -SCALE * SCALE;
        for (int p = 0; p < points; p++) {
            int sum = 0;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[p][k];
            }
            score[p] = sum >> FRACTION;
            best = score[p] > best ? score[p] : best;
        }
        int total = 0;
        for (int p = 0; p < points; p++) {
            score[p] = exponential(best - score[p]);
            total += score[p];
        }
        for (int p = 0; p < points; p++) {
            out[n][p] = score[p] * SCALE / total;
        }
    }
}

static void sample_views(signed char value[VIEWS][ROWS][COLUMNS][HIDDEN], signed char place[VIEWS][QUERIES][2], signed char offset[QUERIES][POINTS * 2], signed char share[QUERIES][POINTS],
                  unsigned char queries, unsigned char points, signed char out[QUERIES][HIDDEN]) {
    for (int n = 0; n < queries; n++) {
        short sum[HIDDEN];
        unsigned char hits = 0;
        for (int k = 0; k < HIDDEN; k++) {
            sum[k] = 0;
        }
        for (int v = 0; v < VIEWS; v++) {
            if (place[v][n][0] < 0 || place[v][n][1] < 0) {
                continue;
            }
            hits++;
            for (int p = 0; p < points; p++) {
                short y = place[v][n][0] + offset[n][2 * p];
                short z = place[v][n][1] + offset[n][2 * p + 1];
                for (int corner = 0; corner < 4; corner++) {
                    signed char r = (y >> FRACTION) + (corner >> 1);
                    signed char c = (z >> FRACTION) + (corner & 1);
                    if (r < 0 || r >= ROWS || c < 0 || c >= COLUMNS) {
                        continue;
                    }
                    unsigned char down = corner & 2 ? y & (SCALE - 1) : SCALE - (y & (SCALE - 1));
                    unsigned char across = corner & 1 ? z & (SCALE - 1) : SCALE - (z & (SCALE - 1));
                    unsigned char part = (down * across >> FRACTION) * share[n][p] >> FRACTION;
                    for (int k = 0; k < HIDDEN; k++) {
                        sum[k] += value[v][r][c][k] * part >> FRACTION;
                    }
                }
            }
        }
        for (int k = 0; k < HIDDEN; k++) {
            out[n][k] = hits > 0 ? saturate(sum[k] / hits) : 0;
        }
    }
}

static void add_norm(signed char x[QUERIES][HIDDEN], signed char rest[QUERIES][HIDDEN], signed char gain[HIDDEN], signed char bias[HIDDEN], unsigned char tokens, signed char out[QUERIES][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        signed char row[HIDDEN];
        for (int k = 0; k < HIDDEN; k++) {
            row[k] = saturate(x[n][k] + rest[n][k]);
        }
        int sum = 0;
        for (int k = 0; k < HIDDEN; k++) {
            sum += row[k];
        }
        signed char mean = sum / HIDDEN;
        int square = 0;
        for (int k = 0; k < HIDDEN; k++) {
            short far = row[k] - mean;
            square += far * far;
        }
        short deviation = root(square / HIDDEN) + 1;
        for (int k = 0; k < HIDDEN; k++) {
            short far = row[k] - mean;
            out[n][k] = saturate(far * gain[k] / deviation + bias[k]);
        }
    }
}

static void feed_forward(signed char x[QUERIES][HIDDEN], signed char inner[INNER][HIDDEN], signed char outer[HIDDEN][INNER], unsigned char queries, signed char out[QUERIES][HIDDEN]) {
    for (int n = 0; n < queries; n++) {
        signed char hidden[INNER];
        for (int f = 0; f < INNER; f++) {
            int sum = 0;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * inner[f][k];
            }
            hidden[f] = sum > 0 ? requantise(sum) : 0;
        }
        for (int k = 0; k < HIDDEN; k++) {
            int sum = x[n][k] * SCALE;
            for (int f = 0; f < INNER; f++) {
                sum += hidden[f] * outer[k][f];
            }
            out[n][k] = requantise(sum);
        }
    }
}

void bevformer(
    signed char query[QUERIES][HIDDEN],
    signed char w_offset[OFFSETS][HIDDEN],
    signed char b_offset[OFFSETS],
    signed char w_share[POINTS][HIDDEN],
    signed char camera[VIEWS][ROWS][COLUMNS][HIDDEN],
    signed char place[VIEWS][QUERIES][2],
    signed char gain_0[HIDDEN],
    signed char b_0[HIDDEN],
    signed char w_inner[INNER][HIDDEN],
    signed char w_outer[HIDDEN][INNER],
    unsigned char queries,
    unsigned char points,
    signed char offset[QUERIES][OFFSETS],
    signed char share[QUERIES][POINTS],
    signed char sampled[QUERIES][HIDDEN],
    signed char normal[QUERIES][HIDDEN],
    signed char y[QUERIES][HIDDEN]) {
    linear(query, w_offset, b_offset, queries, offset);
    point_weights(query, w_share, queries, points, share);
    sample_views(camera, place, offset, share, queries, points, sampled);
    add_norm(sampled, query, gain_0, b_0, queries, normal);
    feed_forward(normal, w_inner, w_outer, queries, y);
}
