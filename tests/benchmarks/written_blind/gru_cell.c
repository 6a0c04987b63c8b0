#define H 6
#define X 4
static float hard_sigmoid(float v)
{
    float s = 0.2f * v + 0.5f;
    return s < 0.0f ? 0.0f : s > 1.0f ? 1.0f : s;
}
static float hard_tanh(float v) { return v < -1.0f ? -1.0f : v > 1.0f ? 1.0f : v; }

/* GRU over a short sequence; the state stays in h. */
#pragma simfoundry range seq=-1.0:1.0 wz=-0.6:0.6 wr=-0.6:0.6 wn=-0.6:0.6 h=-0.5:0.5
void gru_cell(const float seq[5][X], const float wz[H][X + H], const float wr[H][X + H], const float wn[H][X + H],
              float h[H])
{
    for (int t = 0; t < 5; t++) {
        float z[H], n[H];
        for (int i = 0; i < H; i++) {
            float sz = 0.0f, sr = 0.0f, sn = 0.0f, sh = 0.0f;
            for (int k = 0; k < X; k++) {
                sz += wz[i][k] * seq[t][k];
                sr += wr[i][k] * seq[t][k];
                sn += wn[i][k] * seq[t][k];
            }
            for (int k = 0; k < H; k++) {
                sz += wz[i][X + k] * h[k];
                sr += wr[i][X + k] * h[k];
                sh += wn[i][X + k] * h[k];
            }
            z[i] = hard_sigmoid(sz);
            n[i] = hard_tanh(sn + hard_sigmoid(sr) * sh);
        }
        for (int i = 0; i < H; i++)
            h[i] = (1.0f - z[i]) * n[i] + z[i] * h[i];
    }
}
