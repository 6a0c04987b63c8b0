#define N 48

/* Iterate a stencil, swapping two buffers. */
void smooth(const int in[N], int out[N], int steps)
{
    int a[N], b[N];
    int *src = a, *dst = b;
    for (int i = 0; i < N; i++)
        a[i] = in[i];
    if (steps > 8)
        steps = 8;
    for (int s = 0; s < steps; s++) {
        dst[0] = src[0];
        dst[N - 1] = src[N - 1];
        for (int i = 1; i < N - 1; i++)
            dst[i] = (src[i - 1] + 2 * src[i] + src[i + 1]) >> 2;
        int *t = src;
        src = dst;
        dst = t;
    }
    for (int i = 0; i < N; i++)
        out[i] = src[i];
}
