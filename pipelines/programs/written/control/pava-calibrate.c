#include <stddef.h>

#ifndef SCORES
#define SCORES 128
#endif
#ifndef BINS
#define BINS 10
#endif

/* Calibration of a classifier: isotonic regression (pool adjacent violators) of the
   labels over ascending scores, then reliability per bin. */

struct block { double sum; double weight; size_t first; };

size_t pava_calibrate(const double score[SCORES], const unsigned char label[SCORES], const float weight[SCORES],
                      double fitted[SCORES], double *ece)
{
  struct block stack[SCORES];
  size_t depth = 0;

  for (size_t i = 0; i < SCORES; ) {
    struct block b = { 0.0, 0.0, i };

    /* equal scores must share a value */
    do {
      b.sum += label[i] * (double)weight[i];
      b.weight += weight[i];
      i++;
    } while (i < SCORES && score[i] == score[b.first]);
    while (depth > 0 && stack[depth - 1].sum * b.weight >= b.sum * stack[depth - 1].weight) {
      depth--;
      b.sum += stack[depth].sum;
      b.weight += stack[depth].weight;
      b.first = stack[depth].first;
    }
    stack[depth++] = b;
  }

  for (size_t k = 0; k < depth; k++) {
    size_t end = k + 1 < depth ? stack[k + 1].first : SCORES;
    for (size_t i = stack[k].first; i < end; i++)
      fitted[i] = stack[k].sum / stack[k].weight;
  }

  double conf[BINS] = {0}, acc[BINS] = {0}, w[BINS] = {0}, total = 0, err = 0;
  for (size_t i = 0; i < SCORES; i++) {
    int b = (int)(score[i] * BINS);
    if (b < 0) b = 0;
    if (b >= BINS) b = BINS - 1;
    conf[b] += weight[i] * score[i];
    acc[b] += weight[i] * fitted[i];
    w[b] += weight[i];
    total += weight[i];
  }
  for (int b = 0; b < BINS; b++) {
    double d = conf[b] - acc[b];
    if (w[b] > 0) err += d < 0 ? -d : d;
  }
  *ece = err / total;
  return depth;
}
