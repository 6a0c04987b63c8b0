#define N 10

static float dot(const float u[N], const float v[N])
{
    float s = 0.0f;
    for (int i = 0; i < N; i++)
        s += u[i] * v[i];
    return s;
}

/* Solves the 1-D Laplacian plus identity, never stored; stops at the tolerance. */
#pragma simfoundry range b=-1.0:1.0
int conjugate_gradient(const float b[N], float x[N])
{
    float r[N], p[N], q[N];
    int it = 0;
    for (int i = 0; i < N; i++) {
        x[i] = 0.0f;
        r[i] = b[i];
        p[i] = b[i];
    }
    float rho = dot(r, r);
    while (rho > 1e-8f && it < 50) {
        for (int i = 0; i < N; i++) {
            float left = i > 0 ? p[i - 1] : 0.0f;
            float right = i < N - 1 ? p[i + 1] : 0.0f;
            q[i] = 3.0f * p[i] - left - right;
        }
        float alpha = rho / dot(p, q);
        for (int i = 0; i < N; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        float next = dot(r, r);
        float beta = next / rho;
        for (int i = 0; i < N; i++)
            p[i] = r[i] + beta * p[i];
        rho = next;
        it++;
    }
    return it;
}
