#include <math.h>

#ifndef SEQ
#define SEQ 24
#endif
#ifndef HEAD
#define HEAD 8
#endif
#ifndef WINDOW
#define WINDOW 12
#endif

// One attention head, causal, limited to the last WINDOW positions, with a
// linear distance penalty. Softmax is done in one pass: whenever a larger
// score turns up, what has been gathered so far is scaled down.
void attention_head(const float q[SEQ][HEAD], const float k[SEQ][HEAD],
                    const float v[SEQ][HEAD], float slope, float out[SEQ][HEAD]) {
  const float scale = 1.0f / sqrtf((float)HEAD);

  for (int i = 0; i < SEQ; ++i) {
    const int first = i >= WINDOW ? i - WINDOW + 1 : 0;
    float peak = 0.0f, denom = 0.0f;
    float acc[HEAD];

    for (int h = 0; h < HEAD; ++h) acc[h] = 0.0f;

    for (int j = first; j <= i; ++j) {
      float score = 0.0f;
      for (int h = 0; h < HEAD; ++h) score += q[i][h] * k[j][h];
      score = score * scale - slope * (float)(i - j);

      if (j == first) {
        peak = score;
      } else if (score > peak) {
        const float shrink = expf(peak - score);
        denom *= shrink;
        for (int h = 0; h < HEAD; ++h) acc[h] *= shrink;
        peak = score;
      }
      const float weight = expf(score - peak);
      denom += weight;
      for (int h = 0; h < HEAD; ++h) acc[h] += weight * v[j][h];
    }

    // denom >= 1, the best score has weight 1
    const float inv = 1.0f / denom;
    for (int h = 0; h < HEAD; ++h) out[i][h] = acc[h] * inv;
  }
}
