/* Integer 8-point DCT of eight rows (Loeffler-like butterflies, 10-bit constants). */
#pragma simfoundry range blk=-128:128

#define C1 1004
#define S1 200
#define C3 851
#define S3 569
#define R2C6 554
#define R2S6 1337

void dct8_int(const short blk[8][8], int out[8][8])
{
    for (int i = 0; i < 8; i++) {
        int a0 = blk[i][0] + blk[i][7], a7 = blk[i][0] - blk[i][7];
        int a1 = blk[i][1] + blk[i][6], a6 = blk[i][1] - blk[i][6];
        int a2 = blk[i][2] + blk[i][5], a5 = blk[i][2] - blk[i][5];
        int a3 = blk[i][3] + blk[i][4], a4 = blk[i][3] - blk[i][4];

        int b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
        out[i][0] = (b0 + b1) * 1024;
        out[i][4] = (b0 - b1) * 1024;
        out[i][2] = b2 * R2C6 + b3 * R2S6;
        out[i][6] = b3 * R2C6 - b2 * R2S6;

        int t = C3 * (a4 + a7);
        int c4 = (S3 - C3) * a7 + t, c7 = t - (C3 + S3) * a4;
        t = C1 * (a5 + a6);
        int c5 = (S1 - C1) * a6 + t, c6 = t - (C1 + S1) * a5;
        out[i][1] = c4 + c6 + c7 + c5;
        out[i][7] = c7 - c5;
        out[i][3] = (c4 - c6) * 181 / 128;
        out[i][5] = (c7 + c5) * 181 / 128;
    }
}
