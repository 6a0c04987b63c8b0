/* Covers pixels of a 24 by 16 tile by three edge functions; returns the pixels. */
static int edge(int ax, int ay, int bx, int by, int px, int py)
{
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax);
}

#pragma simfoundry range vx=0:24 vy=0:16
int triangle_fill(const int vx[3], const int vy[3], unsigned char tile[16][24], unsigned char colour)
{
    int count = 0;
    for (int y = 0; y < 16; y++) {
        for (int x = 0; x < 24; x++) {
            int a = edge(vx[0], vy[0], vx[1], vy[1], x, y);
            int b = edge(vx[1], vy[1], vx[2], vy[2], x, y);
            int c = edge(vx[2], vy[2], vx[0], vy[0], x, y);
            if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0)) {
                tile[y][x] = colour;
                count++;
            }
        }
    }
    return count;
}
