/* Two generations of Conway's game on a torus of 12 x 12 bits. */
void life_step(unsigned short row[12])
{
    for (int gen = 0; gen < 2; gen++) {
        unsigned short next[12];
        for (int y = 0; y < 12; y++) {
            unsigned up = row[(y + 11) % 12], me = row[y], dn = row[(y + 1) % 12];
            unsigned out = 0;
            for (int x = 0; x < 12; x++) {
                int l = (x + 11) % 12, r = (x + 1) % 12;
                int n = (up >> l & 1) + (up >> x & 1) + (up >> r & 1) + (me >> l & 1) + (me >> r & 1)
                      + (dn >> l & 1) + (dn >> x & 1) + (dn >> r & 1);
                if (n == 3 || (n == 2 && (me >> x & 1)))
                    out |= 1u << x;
            }
            next[y] = (unsigned short)out;
        }
        for (int y = 0; y < 12; y++)
            row[y] = next[y];
    }
}
