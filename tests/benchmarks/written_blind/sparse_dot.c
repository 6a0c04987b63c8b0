/* Product of two sparse vectors: indices ascend by the gaps given. */
#pragma simfoundry range gap_a=1:5 gap_b=1:5 va=-2.0:2.0 vb=-2.0:2.0
float sparse_dot(const unsigned char gap_a[32], const float va[32], const unsigned char gap_b[32], const float vb[32])
{
    int i = 0, j = 0;
    int ka = gap_a[0], kb = gap_b[0];
    float sum = 0.0f;
    while (i < 31 && j < 31) {
        if (ka == kb)
            sum += va[i] * vb[j];
        if (ka <= kb)
            ka += gap_a[++i];
        else
            kb += gap_b[++j];
    }
    return sum;
}
