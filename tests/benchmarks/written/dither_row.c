/* Floyd-Steinberg on one image, error kept in one row of look-ahead. */
#define W 24
#define H 8

void dither_row(const unsigned char in[H][W], unsigned char out[H][W])
{
    int err[W + 2];
    for (int i = 0; i < W + 2; i++)
        err[i] = 0;

    for (int y = 0; y < H; y++) {
        int right = 0, diag = 0;
        for (int x = 0; x < W; x++) {
            int v = in[y][x] + (right + err[x + 1]) / 16;
            int on = v >= 128;
            int e = v - (on ? 255 : 0);
            out[y][x] = on ? 1 : 0;
            right = 7 * e;
            err[x] += 3 * e;
            err[x + 1] = diag + 5 * e;
            diag = e;
        }
        err[W] += 0;
    }
}
