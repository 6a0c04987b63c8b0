/* Consistent overhead byte stuffing of one frame. */
#pragma simfoundry range frame=0:6
int cobs_stuff(const unsigned char frame[60], unsigned char out[64])
{
    int code_at = 0, o = 1;
    unsigned char code = 1;

    for (int i = 0; i < 60; i++) {
        if (frame[i] == 0) {
            out[code_at] = code;
            code_at = o++;
            code = 1;
        } else {
            out[o++] = frame[i];
            code++;
        }
    }
    out[code_at] = code;
    return o;
}
