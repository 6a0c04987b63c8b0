/* Inverses by the extended Euclidean algorithm; 0 where there is none. */
static int inverse(int a, int m)
{
    int r0 = m, r1 = a % m, t0 = 0, t1 = 1;
    while (r1 != 0) {
        int q = r0 / r1, r2 = r0 - q * r1, t2 = t0 - q * t1;
        r0 = r1;
        r1 = r2;
        t0 = t1;
        t1 = t2;
    }
    if (r0 != 1)
        return 0;
    return t0 < 0 ? t0 + m : t0;
}

#pragma simfoundry range a=1:10000 m=2:10000
void modular_inverse(const int a[10], const int m[10], int inv[10])
{
    for (int i = 0; i < 10; i++)
        inv[i] = inverse(a[i], m[i]);
}
