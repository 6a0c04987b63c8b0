#pragma simfoundry range px=0:256 py=0:256 cx=0:256 cy=0:256
/* Assigns points to the nearest of four centres and sums the members. */
void kmeans_assign(const int px[64], const int py[64], const int cx[4], const int cy[4],
                   unsigned char label[64], int sum[4][3])
{
    for (int c = 0; c < 4; c++)
        sum[c][0] = sum[c][1] = sum[c][2] = 0;
    for (int i = 0; i < 64; i++) {
        int best = 0, least = 1 << 30;
        for (int c = 0; c < 4; c++) {
            int dx = px[i] - cx[c], dy = py[i] - cy[c];
            int d = dx * dx + dy * dy;
            if (d < least) {
                least = d;
                best = c;
            }
        }
        label[i] = (unsigned char)best;
        sum[best][0] += px[i];
        sum[best][1] += py[i];
        sum[best][2]++;
    }
}
