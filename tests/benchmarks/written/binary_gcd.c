#pragma simfoundry range a=1:100000 b=1:100000
void binary_gcd(const unsigned a[16], const unsigned b[16], unsigned g[16])
{
    for (int i = 0; i < 16; i++) {
        unsigned x = a[i], y = b[i];
        int twos = 0;
        while (!((x | y) & 1)) {
            x >>= 1;
            y >>= 1;
            twos++;
        }
        while (x != y) {
            if (!(x & 1))
                x >>= 1;
            else if (!(y & 1))
                y >>= 1;
            else if (x > y)
                x = (x - y) >> 1;
            else
                y = (y - x) >> 1;
        }
        g[i] = x << twos;
    }
}
