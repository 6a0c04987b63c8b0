#ifndef NT
#define NT 32
#endif

/* Inverse of a symmetric positive definite Toeplitz matrix (Trench), after Durbin's recursion.
   r[0] = 1 implied; r[1..] are scaled by the caller's decay so that the matrix stays definite:
   sum |r_k| < 1/2. Returns the trace of the inverse. */

float toep_inverse(const float *seed, float *inv /* NT x NT */)
{
    float r[NT], y[NT], z[NT];
    float sum = 0.0f;

    for (int k = 1; k < NT; k++)
        sum += seed[k - 1] < 0 ? -seed[k - 1] : seed[k - 1];
    for (int k = 1; k < NT; k++)
        r[k - 1] = seed[k - 1] * 0.45f / (sum + 1e-3f);

    /* Durbin: T(n-1) y = -r */
    float alpha = -r[0], beta = 1.0f;
    y[0] = -r[0];
    for (int k = 1; k < NT - 1; k++) {
        beta *= 1.0f - alpha * alpha;
        float s = r[k];
        for (int i = 0; i < k; i++)
            s += r[k - 1 - i] * y[i];
        alpha = -s / beta;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - 1 - i];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }

    float g = 1.0f;
    for (int i = 0; i < NT - 1; i++) g += r[i] * y[i];
    g = 1.0f / g;

#define B(i, j) inv[((i) - 1) * NT + (j) - 1]
    B(1, 1) = g;
    for (int j = 2; j <= NT; j++)
        B(1, j) = g * y[j - 2];
    for (int i = 2; i <= (NT + 1) / 2; i++)
        for (int j = i; j <= NT + 1 - i; j++)
            B(i, j) = B(i - 1, j - 1) + (y[i - 2] * y[j - 2] - y[NT - i] * y[NT - j]) * g;

    /* symmetric and persymmetric: the upper wedge fixes everything */
    for (int i = 1; i <= NT; i++)
        for (int j = 1; j <= NT; j++) {
            int a = i < j ? i : j, b = i < j ? j : i;
            if (a + b > NT + 1) {
                int t = a;
                a = NT + 1 - b;
                b = NT + 1 - t;
            }
            B(i, j) = B(a, b);
        }

    float trace = 0.0f;
    for (int i = 1; i <= NT; i++) trace += B(i, i);
    return trace;
}

int main(void)
{
    float seed[NT - 1] = {0.3f, -0.2f}, *p = seed + 2;
    static float inv[NT * NT];
    while (p < seed + NT - 1) *p++ = 0.01f;
    return toep_inverse(seed, inv) > (float)NT ? 0 : 1;
}
