#pragma simfoundry range x=-2000:2000
/* Softmax with a piecewise linear exponential in Q10. */
void softmax_pwl(const int x[10], int y[10])
{
    int top = x[0], sum = 0;
    for (int i = 1; i < 10; i++)
        if (x[i] > top)
            top = x[i];
    for (int i = 0; i < 10; i++) {
        int d = (top - x[i]) >> 1;
        int e;
        if (d < 512)
            e = 1024 - d - (d >> 2);
        else if (d < 2048)
            e = 384 - ((d - 512) >> 2);
        else
            e = 1;
        if (e < 1)
            e = 1;
        y[i] = e;
        sum += e;
    }
    for (int i = 0; i < 10; i++)
        y[i] = y[i] * 1024 / sum;
}
