#define ORDER 8
/* Levinson-Durbin: prediction coefficients out of an autocorrelation; returns the error left. */
#pragma simfoundry range r=0.05:0.2
float levinson(const float r[ORDER + 1], float a[ORDER + 1], float reflection[ORDER])
{
    float err = r[0] + 1.0f;
    float tmp[ORDER + 1];
    a[0] = 1.0f;
    for (int i = 1; i <= ORDER; i++)
        a[i] = 0.0f;
    for (int m = 1; m <= ORDER; m++) {
        float acc = r[m];
        for (int j = 1; j < m; j++)
            acc += a[j] * r[m - j];
        float k = -acc / err;
        reflection[m - 1] = k;
        for (int j = 0; j <= m; j++)
            tmp[j] = a[j];
        for (int j = 1; j < m; j++)
            a[j] = tmp[j] + k * tmp[m - j];
        a[m] = k;
        err *= 1.0f - k * k;
    }
    return err;
}
