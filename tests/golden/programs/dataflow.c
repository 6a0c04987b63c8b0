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
#define PAIRWISE_DISTANCE_2_TILE_K 3
#define PAIRWISE_DISTANCE_2_TILE_I 2
#define PAIRWISE_DISTANCE_2_TILE_J 2
#define FLIP_ROWS_3_M 6
#define FLIP_ROWS_3_N 5
#define FLIP_ROWS_3_TILE_I 3
#define FLIP_ROWS_3_STRIDE_J 2
#define SCATTER_ROWS_4_M 6
#define SCATTER_ROWS_4_N 5
#define GATHER_ELEMENTS_5_M 6
#define GATHER_ELEMENTS_5_N 5

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
    for (int i_tile = 0; i_tile < PAIRWISE_DISTANCE_2_M; i_tile += PAIRWISE_DISTANCE_2_TILE_I)
        for (int i = i_tile; i < i_tile + PAIRWISE_DISTANCE_2_TILE_I; i++)
            for (int j_tile = 0; j_tile < PAIRWISE_DISTANCE_2_N; j_tile += PAIRWISE_DISTANCE_2_TILE_J)
                for (int j = j_tile; j < MIN(j_tile + PAIRWISE_DISTANCE_2_TILE_J, PAIRWISE_DISTANCE_2_N); j++) {
                    int sum = 0;
                    for (int k_tile = 0; k_tile < PAIRWISE_DISTANCE_2_D; k_tile += PAIRWISE_DISTANCE_2_TILE_K)
                        for (int k = k_tile; k < MIN(k_tile + PAIRWISE_DISTANCE_2_TILE_K, PAIRWISE_DISTANCE_2_D); k++)
                            sum += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]);
                    out[i][j] = clamp(sum >> 3, -4095, 4095);
                }
}

static void flip_rows_3(int x[FLIP_ROWS_3_M][FLIP_ROWS_3_N], int out[FLIP_ROWS_3_M][FLIP_ROWS_3_N]) {
    for (int i_tile = 0; i_tile < FLIP_ROWS_3_M; i_tile += FLIP_ROWS_3_TILE_I)
        for (int i = i_tile; i < i_tile + FLIP_ROWS_3_TILE_I; i++)
            for (int j_p = 0; j_p < FLIP_ROWS_3_STRIDE_J; j_p++)
                for (int j = j_p; j < FLIP_ROWS_3_N; j += FLIP_ROWS_3_STRIDE_J)
                    out[i][j] = x[i][FLIP_ROWS_3_N - 1 - j];
}

static void scatter_rows_4(int x[SCATTER_ROWS_4_M][SCATTER_ROWS_4_N], int index[SCATTER_ROWS_4_M],
                           int out[SCATTER_ROWS_4_M][SCATTER_ROWS_4_N]) {
    for (int i = 0; i < SCATTER_ROWS_4_M; i++)
        for (int j = 0; j < SCATTER_ROWS_4_N; j++)
            out[index[i]][j] = x[i][j];
}

static void gather_elements_5(int x[GATHER_ELEMENTS_5_M][GATHER_ELEMENTS_5_N],
                              int index[GATHER_ELEMENTS_5_M][GATHER_ELEMENTS_5_N],
                              int out[GATHER_ELEMENTS_5_M][GATHER_ELEMENTS_5_N]) {
    for (int i = 0; i < GATHER_ELEMENTS_5_M; i++)
        for (int j = 0; j < GATHER_ELEMENTS_5_N; j++)
            out[i][j] = x[i][index[i][j]];
}

void graph(int x0_x[2][5][7], int x1_x[6][11], int x2_y[5][11], int x3_index[6],
           int x4_index[6][5], int t0[2][5][7], int t1[4][5][7], int t2[6][5], int t3[6][5],
           int t4[6][5], int t5[6][5]) {
    instance_norm_0(x0_x, t0);
    concat_1(t0, x0_x, t1);
    pairwise_distance_2(x1_x, x2_y, t2);
    flip_rows_3(t2, t3);
    scatter_rows_4(t3, x3_index, t4);
    gather_elements_5(t4, x4_index, t5);
}
