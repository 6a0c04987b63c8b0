/* Median filter on a small grey image; the border is copied. */
typedef unsigned char u8;

#define W 16
#define H 12

static void order(u8 *a, u8 *b)
{
    if (*a > *b) {
        u8 t = *a;
        *a = *b;
        *b = t;
    }
}

void median3x3(const u8 img[H][W], u8 out[H][W])
{
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            if (y == 0 || x == 0 || y == H - 1 || x == W - 1) {
                out[y][x] = img[y][x];
                continue;
            }
            u8 p0 = img[y - 1][x - 1], p1 = img[y - 1][x], p2 = img[y - 1][x + 1];
            u8 p3 = img[y][x - 1], p4 = img[y][x], p5 = img[y][x + 1];
            u8 p6 = img[y + 1][x - 1], p7 = img[y + 1][x], p8 = img[y + 1][x + 1];
            order(&p1, &p2); order(&p4, &p5); order(&p7, &p8);
            order(&p0, &p1); order(&p3, &p4); order(&p6, &p7);
            order(&p1, &p2); order(&p4, &p5); order(&p7, &p8);
            order(&p0, &p3); order(&p5, &p8); order(&p4, &p7);
            order(&p3, &p6); order(&p1, &p4); order(&p2, &p5);
            order(&p4, &p7); order(&p4, &p2); order(&p6, &p4);
            order(&p4, &p2);
            out[y][x] = p4;
        }
    }
}
