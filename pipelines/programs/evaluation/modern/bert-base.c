#define TOKENS 9
#define WORDS 16
#define HIDDEN 8
#define INNER 16
#define HEADS 2
#define HEAD 4
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

static void embed(unsigned char id[TOKENS], signed char word[WORDS][HIDDEN], signed char position[TOKENS][HIDDEN], signed char segment[2][HIDDEN], unsigned char tokens,
                  unsigned char first, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        int side = n < first ? 0 : 1;
        for (int k = 0; k < HIDDEN; k++) {
            out[n][k] = saturate(word[id[n]][k] + position[n][k] + segment[side][k]);
        }
    }
}

static void layer_norm(signed char x[TOKENS][HIDDEN], signed char gain[HIDDEN], signed char bias[HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        signed char row[HIDDEN];
        for (int k = 0; k < HIDDEN; k++) {
            row[k] = x[n][k];
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

static void linear(signed char x[TOKENS][HIDDEN], signed char weight[HIDDEN][HIDDEN], signed char bias[HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < HIDDEN; m++) {
            int sum = bias[m] * SCALE;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[m][k];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void attention(signed char query[TOKENS][HEADS * HEAD], signed char key[TOKENS][HEADS * HEAD], signed char value[TOKENS][HEADS * HEAD], unsigned char tokens, unsigned char keys,
                  signed char out[TOKENS][HEADS * HEAD]) {
    for (int h = 0; h < HEADS; h++) {
        for (int n = 0; n < tokens; n++) {
            short score[TOKENS];
            short best = -32767;
            for (int j = 0; j < keys; j++) {
                int dot = 0;
                for (int d = 0; d < HEAD; d++) {
                    dot += query[n][h * HEAD + d] * key[j][h * HEAD + d];
                }
                score[j] = dot >> 6;
                best = score[j] > best ? score[j] : best;
            }
            int total = 0;
            for (int j = 0; j < keys; j++) {
                score[j] = exponential(best - score[j]);
                total += score[j];
            }
            for (int d = 0; d < HEAD; d++) {
                int sum = 0;
                for (int j = 0; j < keys; j++) {
                    sum += score[j] * value[j][h * HEAD + d];
                }
                out[n][h * HEAD + d] = sum / total;
            }
        }
    }
}

static void add_norm(signed char x[TOKENS][HIDDEN], signed char rest[TOKENS][HIDDEN], signed char gain[HIDDEN], signed char bias[HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
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

static void linear_2(signed char x[TOKENS][HIDDEN], signed char weight[INNER][HIDDEN], signed char bias[INNER], unsigned char tokens, signed char out[TOKENS][INNER]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < INNER; m++) {
            int sum = bias[m] * SCALE;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[m][k];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void gelu(signed char x[TOKENS][INNER], unsigned char tokens, signed char out[TOKENS][INNER]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < INNER; k++) {
            short value = x[n][k];
            short size = (value < 0 ? -value : value) * 181 >> 8;
            short rest = size < 1769 * SCALE / 1000 ? 1769 * SCALE / 1000 - size : 0;
            short error = SCALE - ((rest * rest >> FRACTION) * 74 >> 8);
            out[n][k] = value * (SCALE + (value < 0 ? -error : error)) >> (FRACTION + 1);
        }
    }
}

static void linear_3(signed char x[TOKENS][INNER], signed char weight[HIDDEN][INNER], signed char bias[HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < HIDDEN; m++) {
            int sum = bias[m] * SCALE;
            for (int k = 0; k < INNER; k++) {
                sum += x[n][k] * weight[m][k];
            }
            out[n][m] = requantise(sum);
        }
    }
}

void bert_base(
    unsigned char id[TOKENS],
    signed char word[WORDS][HIDDEN],
    signed char position[TOKENS][HIDDEN],
    signed char segment[2][HIDDEN],
    signed char gain_0[HIDDEN],
    signed char b_0[HIDDEN],
    signed char w_query[HIDDEN][HIDDEN],
    signed char b_query[HIDDEN],
    signed char w_key[HIDDEN][HIDDEN],
    signed char b_key[HIDDEN],
    signed char w_value[HIDDEN][HIDDEN],
    signed char b_value[HIDDEN],
    signed char w_mix[HIDDEN][HIDDEN],
    signed char b_mix[HIDDEN],
    signed char gain_first[HIDDEN],
    signed char b_first[HIDDEN],
    signed char w_inner[INNER][HIDDEN],
    signed char b_inner[INNER],
    signed char w_outer[HIDDEN][INNER],
    signed char b_outer[HIDDEN],
    signed char gain_second[HIDDEN],
    signed char b_second[HIDDEN],
    unsigned char tokens,
    unsigned char first,
    unsigned char valid,
    signed char embedded[TOKENS][HIDDEN],
    signed char h[TOKENS][HIDDEN],
    signed char query[TOKENS][HIDDEN],
    signed char key[TOKENS][HIDDEN],
    signed char value[TOKENS][HIDDEN],
    signed char mixed[TOKENS][HEADS * HEAD],
    signed char attended[TOKENS][HIDDEN],
    signed char middle[TOKENS][HIDDEN],
    signed char inner[TOKENS][INNER],
    signed char active[TOKENS][INNER],
    signed char outer[TOKENS][HIDDEN],
    signed char y[TOKENS][HIDDEN]) {
    embed(id, word, position, segment, tokens, first, embedded);
    layer_norm(embedded, gain_0, b_0, tokens, h);
    linear(h, w_query, b_query, tokens, query);
    linear(h, w_key, b_key, tokens, key);
    linear(h, w_value, b_value, tokens, value);
    attention(query, key, value, tokens, valid, mixed);
    linear(mixed, w_mix, b_mix, tokens, attended);
    add_norm(attended, h, gain_first, b_first, tokens, middle);
    linear_2(middle, w_inner, b_inner, tokens, inner);
    gelu(inner, tokens, active);
    linear_3(active, w_outer, b_outer, tokens, outer);
    add_norm(outer, middle, gain_second, b_second, tokens, y);
}
