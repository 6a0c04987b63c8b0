#define CELLS 24
/* D1Q3 lattice Boltzmann: collide, then stream with periodic ends. */
#pragma simfoundry range f0=0.3:0.7 fp=0.1:0.2 fm=0.1:0.2
void lattice_gas(float f0[CELLS], float fp[CELLS], float fm[CELLS])
{
    const float omega = 1.2f;
    float np[CELLS], nm[CELLS];
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < CELLS; i++) {
            float rho = f0[i] + fp[i] + fm[i];
            float u = (fp[i] - fm[i]) / rho;
            float uu = u * u;
            f0[i] += omega * (rho * (0.66666667f - uu) - f0[i]);
            np[i] = fp[i] + omega * (rho * (0.16666667f + 0.5f * (u + uu)) - fp[i]);
            nm[i] = fm[i] + omega * (rho * (0.16666667f + 0.5f * (uu - u)) - fm[i]);
        }
        for (int i = 0; i < CELLS; i++) {
            fp[i] = np[(i + CELLS - 1) % CELLS];
            fm[i] = nm[(i + 1) % CELLS];
        }
    }
}
