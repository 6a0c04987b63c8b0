/* Sums the values of linked nodes up to the end mark, then lists a bucket table. */
static const unsigned char next_of[32] = {5, 9, 255, 12, 7, 20, 1, 255, 3, 14, 6, 2, 8, 31, 17, 4,
                                          255, 19, 22, 11, 10, 255, 25, 13, 255, 30, 16, 255, 0, 27, 28, 18};
#pragma simfoundry range value=-500:500 head=0:32
void list_walk(const int value[32], const unsigned char head[8], int sum[8], int length[8])
{
    for (int b = 0; b < 8; b++) {
        int s = 0, n = 0;
        unsigned char at = head[b];
        while (at != 255 && n < 32) {
            s += value[at];
            at = next_of[at];
            n++;
        }
        sum[b] = s;
        length[b] = n;
    }
}
