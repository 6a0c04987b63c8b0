typedef unsigned char u8;

static int iabs(int v) { return v < 0 ? -v : v; }

/* Edge strength |gx| + |gy|, clipped to a byte. */
void sobel_magnitude(const u8 src[20 * 20], u8 dst[20 * 20])
{
    for (int r = 1; r < 19; r++) {
        const u8 *up = &src[(r - 1) * 20];
        const u8 *mid = &src[r * 20];
        const u8 *dn = &src[(r + 1) * 20];
        for (int c = 1; c < 19; c++) {
            int gx = up[c + 1] - up[c - 1] + 2 * (mid[c + 1] - mid[c - 1]) + dn[c + 1] - dn[c - 1];
            int gy = dn[c - 1] + 2 * dn[c] + dn[c + 1] - up[c - 1] - 2 * up[c] - up[c + 1];
            int m = iabs(gx) + iabs(gy);
            dst[r * 20 + c] = m > 255 ? 255 : (u8)m;
        }
    }
}
