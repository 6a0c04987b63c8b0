/* Run-length code: pairs of count and value; returns the pairs. */
#pragma simfoundry range in=0:3
int rle_pack(const unsigned char in[100], unsigned char out[200])
{
    int pairs = 0;
    for (int i = 0; i < 100;) {
        int run = 1;
        while (i + run < 100 && run < 255 && in[i + run] == in[i])
            run++;
        out[2 * pairs] = (unsigned char)run;
        out[2 * pairs + 1] = in[i];
        pairs++;
        i += run;
    }
    return pairs;
}
