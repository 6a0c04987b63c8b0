#ifndef GW
#define GW 28
#endif
#ifndef GH
#define GH 20
#endif
#ifndef R
#define R 3
#endif

/* Edge preserving smoothing of p with guide g (He et al.): q = mean(a) g + mean(b).
 * Box means are separable running sums on clipped windows. */

typedef float plane[GH][GW];

static plane t0, mg, mp, mgg, mgp, A, B;

static void box(const plane in, plane out)
{
    for (int y = 0; y < GH; y++)
    {
        float run = 0.0f;
        int n = 0;
        for (int x = -R; x < GW; x++)
        {
            if (x + R < GW) { run += in[y][x + R]; n++; }
            if (x - R - 1 >= 0) { run -= in[y][x - R - 1]; n--; }
            if (x >= 0) t0[y][x] = run / (float)n;
        }
    }
    for (int x = 0; x < GW; x++)
    {
        float run = 0.0f;
        int n = 0;
        for (int y = -R; y < GH; y++)
        {
            if (y + R < GH) { run += t0[y + R][x]; n++; }
            if (y - R - 1 >= 0) { run -= t0[y - R - 1][x]; n--; }
            if (y >= 0) out[y][x] = run / (float)n;
        }
    }
}

#define EACH for (int i = 0; i < GH; i++) for (int j = 0; j < GW; j++)

void guided_filter(float g[GH][GW], float p[GH][GW], float q[GH][GW], float eps)
{
    box((const float (*)[GW])g, mg);
    box((const float (*)[GW])p, mp);
    EACH { A[i][j] = g[i][j] * g[i][j]; B[i][j] = g[i][j] * p[i][j]; }
    box((const float (*)[GW])A, mgg);
    box((const float (*)[GW])B, mgp);
    EACH {
        float var = mgg[i][j] - mg[i][j] * mg[i][j];
        float cov = mgp[i][j] - mg[i][j] * mp[i][j];
        if (var < 0.0f) var = 0.0f;
        A[i][j] = cov / (var + eps);
        B[i][j] = mp[i][j] - A[i][j] * mg[i][j];
    }
    box((const float (*)[GW])A, mgg);
    box((const float (*)[GW])B, mgp);
    EACH q[i][j] = mgg[i][j] * g[i][j] + mgp[i][j];
}
