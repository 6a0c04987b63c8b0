/**
 * @file   Random forest inference with complete binary trees.
 *
 * A tree has NODES = 2^depth - 1 inner nodes in heap order (children of i are
 * 2i+1 and 2i+2) and NODES + 1 leaves, each with a class number.
 */
#include <stdint.h>
#include <stddef.h>

#ifndef TREES
#define TREES 9
#endif
#ifndef NODES
#define NODES 31
#endif
#ifndef FEATURES
#define FEATURES 12
#endif
#ifndef SAMPLES
#define SAMPLES 32
#endif

#define NUM_CLASSES   5u
#define SENSOR_FAULT  (-950)    /* readings below this count as missing */

struct split {
  int16_t limit;
  uint8_t feature;
  uint8_t missing_right;        /* where a missing value goes */
};

struct tree {
  struct split split[NODES];
  uint8_t      leaf[NODES + 1];
};

static struct tree forest[TREES];

static void load_forest(const uint8_t *feature, const int16_t *limit,
                        const uint8_t *direction, const uint8_t *leaf)
{
  for (size_t t = 0; t < TREES; ++t) {
    struct tree *const tree = &forest[t];
    for (size_t i = 0; i < NODES; ++i) {
      tree->split[i].feature       = *feature++;
      tree->split[i].limit         = *limit++;
      tree->split[i].missing_right = *direction++;
    }
    for (size_t i = 0; i <= NODES; ++i)
      tree->leaf[i] = *leaf++;
  }
}

static uint8_t descend(const struct tree *tree, const int16_t *sample)
{
  size_t at = 0;
  while (at < NODES) {
    const struct split *s = &tree->split[at];
    const int16_t value = sample[s->feature];
    int right;
    if (value < SENSOR_FAULT)
      right = s->missing_right;
    else
      right = value > s->limit;
    at = 2 * at + 1 + (size_t)right;
  }
  return tree->leaf[at - NODES];
}

/**
 * Classify SAMPLES rows of FEATURES readings.
 * Voting for a row ends early once the leader cannot be caught.
 * @return number of tree evaluations that were needed
 */
uint32_t forest_predict(const uint8_t *feature, const int16_t *limit,
                        const uint8_t *direction, const uint8_t *leaf,
                        const int16_t *samples, uint8_t *predicted)
{
  uint32_t evaluated = 0;

  load_forest(feature, limit, direction, leaf);

  for (size_t s = 0; s < SAMPLES; ++s) {
    unsigned votes[NUM_CLASSES] = {0};
    unsigned leader = 0;

    for (unsigned t = 0; t < TREES; ++t) {
      const unsigned c = descend(&forest[t], samples + s * FEATURES);
      ++evaluated;
      if (++votes[c] > votes[leader])
        leader = c;

      unsigned second = 0;
      for (unsigned k = 0; k < NUM_CLASSES; ++k)
        if (k != leader && votes[k] > second)
          second = votes[k];
      if (votes[leader] > second + (TREES - 1 - t))
        break;
    }
    predicted[s] = (uint8_t)leader;
  }
  return evaluated;
}
