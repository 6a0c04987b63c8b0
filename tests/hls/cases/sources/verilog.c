// Programs whose Verilog the tools read.

// case: integers
static const unsigned char BOX[16] = {3, 7, 1, 255, 0, 12, 9, 8, 77, 5, 6, 2, 10, 11, 13, 200};
long long f(unsigned char K[16], short A[16], unsigned int n)
{
    int seen[16] = {0};
    long long total = 0;
    for (int i = 0; i < 16; i++) {
        K[i] = BOX[K[i] & 15] ^ (unsigned char)(i * 3);
        seen[K[i] & 15]++;
        if (A[i] < -100) break;
        switch (A[i] & 3) {
            case 0: total += A[i]; break;
            case 1: total -= A[i] / 3;
            case 2: total ^= seen[i] >> (n & 7); break;
            default: total += (long long)A[i] * n;
        }
    }
    return total % 10 ? total / (n | 1) : -total;
}

// case: floating
float f(float A[8], double B[8], short S[8], unsigned char U[8], float alpha, int n)
{
    float s = 0.0f;
    double t = 0;
    for (int i = 0; i < 8; i++) {
        if (A[i] > 0.5f && A[i] != alpha) s += A[i] * alpha; else s -= -A[i];
        t = t + B[i] * (double)S[i];
        B[i] = t - (double)A[i];
        A[i] = (float)U[i] / (float)(i + n);
        S[i] = (short)B[i];
    }
    return s + (float)t;
}

// case: loops
int f(int n, int A[6][10], int B[10])
{
    int s = 0;
    for (int i = 0; i < n && i < 6; i++)
        for (int j = 0; j < 10; j++) {
            if (A[i][j] == B[j]) continue;
            s += A[i][j] * B[j];
            A[i][j] = s >> 3;
        }
    while (s > 3) s = s & 1 ? s * 3 + 1 : s >> 1;
    return s;
}
