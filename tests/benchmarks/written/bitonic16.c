/* Bitonic network on 16 unsigned keys. */
void bitonic16(unsigned k[16])
{
    for (int size = 2; size <= 16; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            for (int i = 0; i < 16; i++) {
                int p = i ^ stride;
                if (p > i) {
                    int up = (i & size) == 0;
                    unsigned a = k[i], b = k[p];
                    if ((a > b) == up) {
                        k[i] = b;
                        k[p] = a;
                    }
                }
            }
        }
    }
}
