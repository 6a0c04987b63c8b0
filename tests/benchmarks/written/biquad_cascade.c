/* Three second-order sections, direct form II transposed, single precision. */
#define SECTIONS 3
#define LEN 64

void biquad_cascade(const float in[LEN], const float b[SECTIONS][3], const float a[SECTIONS][2], float out[LEN])
{
    float z1[SECTIONS], z2[SECTIONS];

    for (int s = 0; s < SECTIONS; s++) {
        z1[s] = 0.0f;
        z2[s] = 0.0f;
    }
    for (int i = 0; i < LEN; i++) {
        float v = in[i];
        for (int s = 0; s < SECTIONS; s++) {
            float w = b[s][0] * v + z1[s];
            z1[s] = b[s][1] * v - a[s][0] * w + z2[s];
            z2[s] = b[s][2] * v - a[s][1] * w;
            v = w;
        }
        out[i] = v;
    }
}
