#define TOKENS 6
#define WORDS 16
#define HIDDEN 8
#define INNER 12
#define HEADS 2
#define HEAD 4
#define GROUPS 1
#define FUSED 16
#define ROTATED 12
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

static const short SIGMOID[64] = {
    16, 17, 18, 19, 20, 21, 22, 23, 23, 24, 25, 26, 26, 27, 27, 28,
    28, 29, 29, 29, 30, 30, 30, 30, 30, 31, 31, 31, 31, 31, 31, 31,
    31, 31, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32,
    32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};

static short sigmoid(short value) {
    short index = (value < 0 ? -value : value) >> (FRACTION - 3);
    short part = SIGMOID[index > 63 ? 63 : index];
    return value < 0 ? SCALE - part : part;
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

static void project(signed char x[TOKENS][HIDDEN], signed char weight[HIDDEN][FUSED], unsigned char tokens, signed char out[TOKENS][FUSED]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < FUSED; m++) {
            int sum = 0;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void rotate(signed char x[TOKENS][FUSED], signed char cosine[TOKENS][HEAD / 2], signed char sine[TOKENS][HEAD / 2], unsigned char tokens, signed char out[TOKENS][FUSED]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < ROTATED; m += HEAD) {
            for (int d = 0; d < HEAD / 2; d++) {
                int left = x[n][m + 2 * d];
                int right = x[n][m + 2 * d + 1];
                out[n][m + 2 * d] = requantise(left * cosine[n][d] - right * sine[n][d]);
                out[n][m + 2 * d + 1] = requantise(left * sine[n][d] + right * cosine[n][d]);
            }
        }
        for (int m = ROTATED; m < FUSED; m++) {
            out[n][m] = x[n][m];
        }
    }
}

static void grouped_attention(signed char x[TOKENS][(HEADS + 2 * GROUPS) * HEAD], unsigned char tokens, unsigned char keys, signed char out[TOKENS][HEADS * HEAD]) {
    for (int h = 0; h < HEADS; h++) {
        for (int n = 0; n < tokens; n++) {
            short score[TOKENS];
            short best = -32767;
            for (int j = 0; j < keys; j++) {
                if (j > n) {
                    continue;
                }
                int dot = 0;
                for (int d = 0; d < HEAD; d++) {
                    dot += x[n][h * HEAD + d] * x[j][(HEADS + h / (HEADS / GROUPS)) * HEAD + d];
                }
                score[j] = dot >> 6;
                best = score[j] > best ? score[j] : best;
            }
            int total = 0;
            for (int j = 0; j < keys; j++) {
                if (j > n) {
                    continue;
                }
                score[j] = exponential(best - score[j]);
                total += score[j];
            }
            for (int d = 0; d < HEAD; d++) {
                int sum = 0;
                for (int j = 0; j < keys; j++) {
                    if (j > n) {
                        continue;
                    }
                    sum += score[j] * x[j][(HEADS + GROUPS + h / (HEADS / GROUPS)) * HEAD + d];
                }
                out[n][h * HEAD + d] = sum / total;
            }
        }
    }
}

static void project_add(signed char x[TOKENS][HIDDEN], signed char weight[HIDDEN][HIDDEN], signed char rest[TOKENS][HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int m = 0; m < HIDDEN; m++) {
        for (int n = 0; n < tokens; n++) {
            int sum = rest[n][m] * SCALE;
            for (int k = 0; k < HIDDEN; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}

static void silu_gate(signed char x[TOKENS][HIDDEN], signed char gate[HIDDEN][INNER], signed char up[HIDDEN][INNER], unsigned char tokens, signed char out[TOKENS][INNER]) {
    for (int n = 0; n < tokens; n++) {
        for (int m = 0; m < INNER; m++) {
            int left = 0;
            int right = 0;
            for (int k = 0; k < HIDDEN; k++) {
                left += x[n][k] * gate[k][m];
                right += x[n][k] * up[k][m];
            }
            left = requantise(left);
            out[n][m] = requantise((left * sigmoid(left) >> FRACTION) * requantise(right));
        }
    }
}

static void project_add_2(signed char x[TOKENS][INNER], signed char weight[INNER][HIDDEN], signed char rest[TOKENS][HIDDEN], unsigned char tokens, signed char out[TOKENS][HIDDEN]) {
    for (int m = 0; m < HIDDEN; m++) {
        for (int n = 0; n < tokens; n++) {
            int sum = rest[n][m] * SCALE;
            for (int k = 0; k < INNER; k++) {
                sum += x[n][k] * weight[k][m];
            }
            out[n][m] = requantise(sum);
        }
    }
}

void llama(
    signed char x[TOKENS][HIDDEN],
    signed char gain_0[HIDDEN],
    signed char w_fused[HIDDEN][FUSED],
    signed char cosine[TOKENS][HEAD / 2],
    signed char sine[TOKENS][HEAD / 2],
    signed char w_mix[HIDDEN][HIDDEN],
    signed char gain_1[HIDDEN],
    signed char w_gate[HIDDEN][INNER],
    signed char w_up[HIDDEN][INNER],
    signed char w_down[INNER][HIDDEN],
    unsigned char tokens,
    signed char normal[TOKENS][HIDDEN],
    signed char fused[TOKENS][FUSED],
    signed char rotated[TOKENS][FUSED],
    signed char mixed[TOKENS][HEADS * HEAD],
    signed char middle[TOKENS][HIDDEN],
    signed char normal_1[TOKENS][HIDDEN],
    signed char gated[TOKENS][INNER],
    signed char y[TOKENS][HIDDEN]) {
    rms_norm(x, gain_0, tokens, normal);
    project(normal, w_fused, tokens, fused);
    rotate(fused, cosine, sine, tokens, rotated);
    grouped_attention(rotated, tokens, tokens, mixed);
    project_add(mixed, w_mix, x, tokens, middle);
    rms_norm(middle, gain_1, tokens, normal_1);
    silu_gate(normal_1, w_gate, w_up, tokens, gated);
    project_add_2(gated, w_down, middle, tokens, y);
}
