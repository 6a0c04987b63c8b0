/* fdtd_slab.c - 1-D Yee scheme, plane wave on a lossy dielectric slab.
   Ez at integer nodes, Hy half a cell to the right. First order Mur at both ends. */
#ifndef NODES
#define NODES 120
#endif
#ifndef TSTEPS
#define TSTEPS 100
#endif

static float ez[NODES], hy[NODES], ca[NODES], cb[NODES];

static void setMaterial(const float epsr[], const float sigma[], float dt_over_eps0)
{
    int i;
    for (i = 0; i < NODES; i++) {
        float loss = sigma[i] * dt_over_eps0 / (2.0f * epsr[i]);
        ca[i] = (1.0f - loss) / (1.0f + loss);
        cb[i] = 0.5f / (epsr[i] * (1.0f + loss));       /* Courant number 0.5 */
        ez[i] = 0.0f;
        hy[i] = 0.0f;
    }
}

void fdtdSlab(const float epsr[NODES], const float sigma[NODES], const float pulse[TSTEPS],
              int src, int probe, float trace[TSTEPS], float *absorbed)
{
    const float mur = (0.5f - 1.0f) / (0.5f + 1.0f);
    float l0, l1, r0, r1, w = 0.0f;
    int t, i;

    setMaterial(epsr, sigma, 1.0f);
    for (t = 0; t < TSTEPS; t++) {
        for (i = 0; i < NODES - 1; i++)
            hy[i] += 0.5f * (ez[i + 1] - ez[i]);

        l0 = ez[0]; l1 = ez[1];
        r0 = ez[NODES - 1]; r1 = ez[NODES - 2];
        for (i = 1; i < NODES - 1; i++)
            ez[i] = ca[i] * ez[i] + cb[i] * (hy[i] - hy[i - 1]);
        ez[0] = l1 + mur * (ez[1] - l0);
        ez[NODES - 1] = r1 + mur * (ez[NODES - 2] - r0);

        ez[src] += pulse[t];
        trace[t] = ez[probe];
        for (i = 0; i < NODES; i++)
            if (sigma[i] > 0.0f)
                w += sigma[i] * ez[i] * ez[i];
    }
    *absorbed = w;
}
