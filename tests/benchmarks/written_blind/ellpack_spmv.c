#define ROWS 20
#define WIDTH 4
#pragma simfoundry range col=0:20
#pragma simfoundry range val=-1.0:1.0 x=-5.0:5.0
void ellpack_spmv(const float val[ROWS][WIDTH], const unsigned char col[ROWS][WIDTH], const float x[ROWS], float y[ROWS])
{
    for (int r = 0; r < ROWS; r++) {
        float s = 0.0f;
        for (int k = 0; k < WIDTH; k++)
            s += val[r][k] * x[col[r][k]];
        y[r] = s;
    }
}
