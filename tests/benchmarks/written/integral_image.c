/* Summed-area table. */
void integral_image(const unsigned char p[16][16], unsigned s[16][16])
{
    for (int y = 0; y < 16; y++) {
        unsigned row = 0;
        for (int x = 0; x < 16; x++) {
            row += p[y][x];
            s[y][x] = row + (y ? s[y - 1][x] : 0);
        }
    }
}
