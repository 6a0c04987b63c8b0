#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define INSTANCE_NORM_0_C 2
#define INSTANCE_NORM_0_H 5
#define INSTANCE_NORM_0_W 7
#define INSTANCE_NORM_0_TILE_W 5
#define INSTANCE_NORM_0_TILE_W2 3
#define INSTANCE_NORM_0_TILE_H 3
#define CONCAT_1_D0 2
#define CONCAT_1_D1 5
#define CONCAT_1_D2 7
#define CONCAT_1_D0B 2
#define CONCAT_1_TILE_J 3
#define PAIRWISE_DISTANCE_2_M 6
#define PAIRWISE_DISTANCE_2_N 5
#define PAIRWISE_DISTANCE_2_D 11
#define PAIRWISE_DISTANCE_2_TILE_I 2
#define PAIRWISE_DISTANCE_2_TILE_J 4
#define GATHER_ELEMENTS_3_M 6
#define GATHER_ELEMENTS_3_N 8
#define SUBTRACT_4_D0 4
#define SUBTRACT_4_D1 5
#define SUBTRACT_4_D2 7
#define SUBTRACT_4_STRIDE_I 2
#define SUBTRACT_4_STRIDE_K 2
#define REDUCE_SUM_5_D0 4
#define REDUCE_SUM_5_D1 5
#define REDUCE_SUM_5_D2 7
#define REDUCE_SUM_5_TILE_J 4
#define REDUCE_SUM_5_STRIDE_K 3
#define REDUCE_SUM_5_TILE_J2 2
#define REDUCE_SUM_5_STRIDE_I 2
#define REDUCE_SUM_5_TILE_K 3

static int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

static void instance_norm_0(int x[INSTANCE_NORM_0_C][INSTANCE_NORM_0_H][INSTANCE_NORM_0_W],
                            int out[INSTANCE_NORM_0_C][INSTANCE_NORM_0_H][INSTANCE_NORM_0_W]) {
    for (int c = 0; c < INSTANCE_NORM_0_C; c++) {
        int mean = 0;
        for (int w_tile = 0; w_tile < INSTANCE_NORM_0_W; w_tile += INSTANCE_NORM_0_TILE_W)
            for (int h = 0; h < INSTANCE_NORM_0_H; h++)
                for (int w = w_tile; w < MIN(w_tile + INSTANCE_NORM_0_TILE_W, INSTANCE_NORM_0_W); w++)
                    mean += x[c][h][w];
        mean = mean / (INSTANCE_NORM_0_H * INSTANCE_NORM_0_W);
        int spread = 0;
        for (int w_tile = 0; w_tile < INSTANCE_NORM_0_W; w_tile += INSTANCE_NORM_0_TILE_W2)
            for (int w = w_tile; w < MIN(w_tile + INSTANCE_NORM_0_TILE_W2, INSTANCE_NORM_0_W); w++)
                for (int h = 0; h < INSTANCE_NORM_0_H; h++)
                    spread += x[c][h][w] > mean ? x[c][h][w] - mean : mean - x[c][h][w];
        spread = spread / (INSTANCE_NORM_0_H * INSTANCE_NORM_0_W) + 1;
        for (int h_tile = 0; h_tile < INSTANCE_NORM_0_H; h_tile += INSTANCE_NORM_0_TILE_H)
            for (int h = h_tile; h < MIN(h_tile + INSTANCE_NORM_0_TILE_H, INSTANCE_NORM_0_H); h++)
                for (int w = 0; w < INSTANCE_NORM_0_W; w++)
                    out[c][h][w] = (x[c][h][w] - mean) * 32 / spread;
    }
}

static void concat_1(int a[CONCAT_1_D0][CONCAT_1_D1][CONCAT_1_D2],
                     int b[CONCAT_1_D0][CONCAT_1_D1][CONCAT_1_D2],
                     int out[4][CONCAT_1_D1][CONCAT_1_D2]) {
    for (int i = 0; i < CONCAT_1_D0; i++)
        for (int k = 0; k < CONCAT_1_D2; k++)
            for (int j = 0; j < CONCAT_1_D1; j++)
                out[i][j][k] = a[i][j][k];
    for (int j_tile = 0; j_tile < CONCAT_1_D1; j_tile += CONCAT_1_TILE_J)
        for (int k = 0; k < CONCAT_1_D2; k++)
            for (int j = j_tile; j < MIN(j_tile + CONCAT_1_TILE_J, CONCAT_1_D1); j++)
                for (int i = 0; i < CONCAT_1_D0B; i++)
                    out[i + CONCAT_1_D0][j][k] = b[i][j][k];
}

static void pairwise_distance_2(int x[PAIRWISE_DISTANCE_2_M][PAIRWISE_DISTANCE_2_D],
                                int y[PAIRWISE_DISTANCE_2_N][PAIRWISE_DISTANCE_2_D],
                                int out[PAIRWISE_DISTANCE_2_M][PAIRWISE_DISTANCE_2_N]) {
    int acc[PAIRWISE_DISTANCE_2_M][PAIRWISE_DISTANCE_2_N];
    for (int i_tile = 0; i_tile < PAIRWISE_DISTANCE_2_M; i_tile += PAIRWISE_DISTANCE_2_TILE_I)
        for (int i = i_tile; i < i_tile + PAIRWISE_DISTANCE_2_TILE_I; i++)
            for (int j_tile = 0; j_tile < PAIRWISE_DISTANCE_2_N; j_tile += PAIRWISE_DISTANCE_2_TILE_J)
                for (int j = j_tile; j < MIN(j_tile + PAIRWISE_DISTANCE_2_TILE_J, PAIRWISE_DISTANCE_2_N); j++)
                    acc[i][j] = 0;
    for (int i = PAIRWISE_DISTANCE_2_M - 1; i >= 0; i--)
        for (int j = 0; j < PAIRWISE_DISTANCE_2_N; j++)
            for (int k = 0; k < PAIRWISE_DISTANCE_2_D; k++)
                acc[i][j] += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]);
    for (int i_tile = 0; i_tile < PAIRWISE_DISTANCE_2_M; i_tile += PAIRWISE_DISTANCE_2_TILE_I)
        for (int i = i_tile; i < i_tile + PAIRWISE_DISTANCE_2_TILE_I; i++)
            for (int j = 0; j < PAIRWISE_DISTANCE_2_N; j++)
                out[i][j] = clamp(acc[i][j] >> 3, -4095, 4095);
}

static void gather_elements_3(int x[GATHER_ELEMENTS_3_M][5],
                              int index[GATHER_ELEMENTS_3_M][GATHER_ELEMENTS_3_N],
                              int out[GATHER_ELEMENTS_3_M][GATHER_ELEMENTS_3_N]) {
    for (int j = 0; j < GATHER_ELEMENTS_3_N; j++)
        for (int i = 0; i < GATHER_ELEMENTS_3_M; i++)
            out[i][j] = x[i][index[i][j]];
}

static void subtract_4(int a[SUBTRACT_4_D0][SUBTRACT_4_D1][SUBTRACT_4_D2],
                       int b[SUBTRACT_4_D0][SUBTRACT_4_D1][SUBTRACT_4_D2],
                       int out[SUBTRACT_4_D0][SUBTRACT_4_D1][SUBTRACT_4_D2]) {
    for (int i_p = 0; i_p < SUBTRACT_4_STRIDE_I; i_p++)
        for (int i = i_p; i < SUBTRACT_4_D0; i += SUBTRACT_4_STRIDE_I)
            for (int j = 0; j < SUBTRACT_4_D1; j++)
                for (int k_p = 0; k_p < SUBTRACT_4_STRIDE_K; k_p++)
                    for (int k = k_p; k < SUBTRACT_4_D2; k += SUBTRACT_4_STRIDE_K)
                        out[i][j][k] = a[i][j][k] - b[i][j][k];
}

static void reduce_sum_5(int x[REDUCE_SUM_5_D0][REDUCE_SUM_5_D1][REDUCE_SUM_5_D2],
                         int out[REDUCE_SUM_5_D1][REDUCE_SUM_5_D2]) {
    for (int j_tile = 0; j_tile < REDUCE_SUM_5_D1; j_tile += REDUCE_SUM_5_TILE_J)
        for (int j = j_tile; j < MIN(j_tile + REDUCE_SUM_5_TILE_J, REDUCE_SUM_5_D1); j++)
            for (int k_p = 0; k_p < REDUCE_SUM_5_STRIDE_K; k_p++)
                for (int k = k_p; k < REDUCE_SUM_5_D2; k += REDUCE_SUM_5_STRIDE_K)
                    out[j][k] = 0;
    for (int i_p = 0; i_p < REDUCE_SUM_5_STRIDE_I; i_p++)
        for (int k = 0; k < REDUCE_SUM_5_D2; k++)
            for (int j_tile = 0; j_tile < REDUCE_SUM_5_D1; j_tile += REDUCE_SUM_5_TILE_J2)
                for (int i = i_p; i < REDUCE_SUM_5_D0; i += REDUCE_SUM_5_STRIDE_I)
                    for (int j = j_tile; j < MIN(j_tile + REDUCE_SUM_5_TILE_J2, REDUCE_SUM_5_D1); j++)
                        out[j][k] += x[i][j][k];
    for (int k_tile = 0; k_tile < REDUCE_SUM_5_D2; k_tile += REDUCE_SUM_5_TILE_K)
        for (int k = k_tile; k < MIN(k_tile + REDUCE_SUM_5_TILE_K, REDUCE_SUM_5_D2); k++)
            for (int j = 0; j < REDUCE_SUM_5_D1; j++)
                out[j][k] = out[j][k] >> 1;
}

void graph(int x0_x[2][5][7], int x1_x[6][11], int x2_y[5][11], int x3_index[6][8],
           int x4_b[4][5][7], int t0[2][5][7], int t1[4][5][7], int t3[6][8], int t4[4][5][7],
           int t5[5][7]) {
    int t2[6][5];
    instance_norm_0(x0_x, t0);
    concat_1(t0, x0_x, t1);
    pairwise_distance_2(x1_x, x2_y, t2);
    gather_elements_3(t2, x3_index, t3);
    subtract_4(t1, x4_b, t4);
    reduce_sum_5(t4, t5);
}
