/* Scales a 12 by 12 grey image to 20 by 20 in 8.8 fixed point. */
void bilinear_scale(const unsigned char src[12][12], unsigned char dst[20][20])
{
    const int step = (11 << 8) / 19;
    int fy = 0;
    for (int y = 0; y < 20; y++, fy += step) {
        int iy = fy >> 8, wy = fy & 255;
        int fx = 0;
        for (int x = 0; x < 20; x++, fx += step) {
            int ix = fx >> 8, wx = fx & 255;
            int jx = ix < 11 ? ix + 1 : ix, jy = iy < 11 ? iy + 1 : iy;
            int top = src[iy][ix] * (256 - wx) + src[iy][jx] * wx;
            int bottom = src[jy][ix] * (256 - wx) + src[jy][jx] * wx;
            dst[y][x] = (unsigned char)((top * (256 - wy) + bottom * wy + 32768) >> 16);
        }
    }
}
