#define TOKENS 6
#define WORDS 16
#define HIDDEN 8
#define INNER 16
#define HEADS 2
#define HEAD 4
#define BUCKETS 8
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

static void embed_words(unsigned char id[TOKENS], signed char word[WORDS][HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < HIDDEN; k++) {
            out[n][k] = word[id[n]][k];
        }
    }
}

static void rms_norm(signed char x[TOKENS][HIDDEN], signed char gain[HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        int square = 0;
        for (int k = 0; k < HIDDEN; k++) {
            square += x[n][k] * x[n][k];
        }
        short size = root(square / HIDDEN) + 1;
        for (int k = 0; k < HIDDEN; k++) {
            out[n][k] = saturate(x[n][k] * gain[k] / size);
        }
    }
}

static void project(signed char x[TOKENS][HIDDEN], signed char weight[HIDDEN][HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < HIDDEN; m++) {
            int sum = 0;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void relative_bias(signed char table[BUCKETS][HEADS], unsigned char tokens, signed char out[HEADS][TOKENS][TOKENS]) {
    for (int n = 0; n < tokens; n++) {
        for (int j = 0; j < tokens; j++) {
            int bucket = j > n ? BUCKETS / 2 : 0;
            int distance = j > n ? j - n : n - j;
            int step = 0;
            int edge = BUCKETS / 4;
            if (distance < edge) {
                step = distance;
            } else {
                step = edge;
                while (distance >= 2 * edge && step < BUCKETS / 2 - 1) {
                    edge = 2 * edge;
                    step++;
                }
            }
            for (int h = 0; h < HEADS; h++) {
                out[h][n][j] = table[bucket + step][h];
            }
        }
    }
}

static void biased_attention(signed char query[TOKENS][HEADS * HEAD], signed char key[TOKENS][HEADS * HEAD], signed char value[TOKENS][HEADS * HEAD],
                  signed char bias[HEADS][TOKENS][TOKENS], unsigned char tokens, unsigned char keys, signed char out[TOKENS][HEADS * HEAD]) {
    for (int h = 0; h < HEADS; h++) {
        for (int n = 0; n < tokens; n++) {
            short score[TOKENS];
            short best = -32767;
            for (int j = 0; j < keys; j++) {
                int dot = bias[h][n][j] * SCALE;
                for (int d = 0; d < HEAD; d++) {
                    dot += query[n][h * HEAD + d] * key[j][h * HEAD + d];
                }
                score[j] = dot >> 5;
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

static void add_tokens(signed char x[TOKENS][HIDDEN], signed char y[TOKENS][HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < HIDDEN; k++) {
            out[n][k] = saturate(x[n][k] + y[n][k]);
        }
    }
}

static void project_2(signed char x[TOKENS][HIDDEN], signed char weight[HIDDEN][INNER], unsigned char tokens, signed char out[TOKENS][INNER]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < INNER; m++) {
            int sum = 0;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void relu_tokens(signed char x[TOKENS][INNER], unsigned char tokens, signed char out[TOKENS][INNER]) {
    for (int n = 0; n < tokens; n++) {
        for (int k = 0; k < INNER; k++) {
            out[n][k] = x[n][k] > 0 ? x[n][k] : 0;
        }
    }
}

static void project_3(signed char x[TOKENS][INNER], signed char weight[INNER][HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < HIDDEN; m++) {
            int sum = 0;
            for (int k = 0; k < INNER; k++) {
                sum += x[n][k] * weight[k][m];
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
                score[j] = dot >> 5;
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

void t5_base(
    unsigned char id[TOKENS],
    signed char word[WORDS][HIDDEN],
    signed char gain_0[HIDDEN],
    signed char w_query[HIDDEN][HIDDEN],
    signed char w_key[HIDDEN][HIDDEN],
    signed char w_value[HIDDEN][HIDDEN],
    signed char table[BUCKETS][HEADS],
    signed char w_mix[HIDDEN][HIDDEN],
    signed char gain_1[HIDDEN],
    signed char w_inner[HIDDEN][INNER],
    signed char w_outer[INNER][HIDDEN],
    signed char x[TOKENS][HIDDEN],
    signed char gain_2[HIDDEN],
    signed char w_cross_query[HIDDEN][HIDDEN],
    signed char w_cross_key[HIDDEN][HIDDEN],
    signed char w_cross_value[HIDDEN][HIDDEN],
    signed char w_cross_mix[HIDDEN][HIDDEN],
    unsigned char tokens,
    signed char h[TOKENS][HIDDEN],
    signed char normal_0[TOKENS][HIDDEN],
    signed char query[TOKENS][HIDDEN],
    signed char key[TOKENS][HIDDEN],
    signed char value[TOKENS][HIDDEN],
    signed char bias[HEADS][TOKENS][TOKENS],
    signed char mixed[TOKENS][HEADS * HEAD],
    signed char attended[TOKENS][HIDDEN],
    signed char h_1[TOKENS][HIDDEN],
    signed char normal_1[TOKENS][HIDDEN],
    signed char inner[TOKENS][INNER],
    signed char active[TOKENS][INNER],
    signed char outer[TOKENS][HIDDEN],
    signed char encoded[TOKENS][HIDDEN],
    signed char normal_2[TOKENS][HIDDEN],
    signed char cross_query[TOKENS][HIDDEN],
    signed char cross_key[TOKENS][HIDDEN],
    signed char cross_value[TOKENS][HIDDEN],
    signed char crossed[TOKENS][HEADS * HEAD],
    signed char cross_attended[TOKENS][HIDDEN],
    signed char decoded[TOKENS][HIDDEN]) {
    embed_words(id, word, tokens, h);
    rms_norm(h, gain_0, tokens, normal_0);
    project(normal_0, w_query, tokens, query);
    project(normal_0, w_key, tokens, key);
    project(normal_0, w_value, tokens, value);
    relative_bias(table, tokens, bias);
    biased_attention(query, key, value, bias, tokens, tokens, mixed);
    project(mixed, w_mix, tokens, attended);
    add_tokens(attended, h, tokens, h_1);
    rms_norm(h_1, gain_1, tokens, normal_1);
    project_2(normal_1, w_inner, tokens, inner);
    relu_tokens(inner, tokens, active);
    project_3(active, w_outer, tokens, outer);
    add_tokens(outer, h_1, tokens, encoded);
    rms_norm(x, gain_2, tokens, normal_2);
    project(normal_2, w_cross_query, tokens, cross_query);
    project(encoded, w_cross_key, tokens, cross_key);
    project(encoded, w_cross_value, tokens, cross_value);
    attention(cross_query, cross_key, cross_value, tokens, tokens, crossed);
    project(crossed, w_cross_mix, tokens, cross_attended);
    add_tokens(cross_attended, x, tokens, decoded);
}
