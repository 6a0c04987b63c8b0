#include <stdint.h>
/*
 * qg_: quantised GEMM, C = requant(A * B + bias)
 * A is M x K (u8, zero point za), B is K x N (s8, symmetric per column).
 */
#ifndef M
#define M 8
#endif
#ifndef K
#define K 24
#endif
#ifndef N
#define N 12
#endif

/* saturating rounding doubling high mul, as in every int8 runtime */
static inline int32_t qg_mulhi(int32_t a, int32_t b)
{
    int64_t p = (int64_t)a * (int64_t)b;
    int64_t nudge = p >= 0 ? (1LL << 30) : (1 - (1LL << 30));
    return (int32_t)((p + nudge) / (1LL << 31));
}

static inline int32_t qg_rshift_round(int32_t v, int sh)
{
    int32_t mask = (int32_t)((1u << sh) - 1u);
    int32_t rem  = v & mask;
    int32_t thr  = (mask >> 1) + (v < 0 ? 1 : 0);
    return (v >> sh) + (rem > thr ? 1 : 0);
}

void qg_gemm_u8s8(const uint8_t A[M][K], const int8_t B[K][N],
                  const int32_t bias[N], const int32_t mult[N],
                  const uint8_t shift[N], int za, int zc, uint8_t C[M][N])
{
    int32_t colsum[N];
    for (int n = 0; n < N; n++) {
        colsum[n] = 0;
        for (int k = 0; k < K; k++)
            colsum[n] += B[k][n];
    }
    for (int m = 0; m < M; m++) {
        int32_t acc[N];
        for (int n = 0; n < N; n++)
            acc[n] = bias[n] - za * colsum[n];
        for (int k = 0; k < K; k++) {
            int32_t a = A[m][k];
            if (a == 0)
                continue;
            for (int n = 0; n < N; n++)
                acc[n] += a * B[k][n];
        }
        for (int n = 0; n < N; n++) {
            int32_t v = qg_rshift_round(qg_mulhi(acc[n], mult[n]), shift[n]) + zc;
            if (v < 0) v = 0;
            if (v > 255) v = 255;
            C[m][n] = (uint8_t)v;
        }
    }
}
