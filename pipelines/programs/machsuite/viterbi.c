/* Viterbi: the most likely path of hidden states for a sequence of observations, in costs (-log) of float. */
#include <stdint.h>

#ifndef STATES
#define STATES 8
#endif
#ifndef TOKENS
#define TOKENS 8
#endif
#ifndef STEPS
#define STEPS 16
#endif

float viterbi(uint8_t observed[STEPS], float start[STATES], float transition[STATES][STATES],
              float emission[STATES][TOKENS], uint8_t path[STEPS])
{
    float cost[STEPS][STATES];
    float least;
    uint8_t last = 0;

    for (int s = 0; s < STATES; s++) {
        cost[0][s] = start[s] + emission[s][observed[0]];
    }
    for (int t = 1; t < STEPS; t++) {
        for (int now = 0; now < STATES; now++) {
            float best = cost[t - 1][0] + transition[0][now];

            for (int before = 1; before < STATES; before++) {
                float through = cost[t - 1][before] + transition[before][now];

                best = through < best ? through : best;
            }
            cost[t][now] = best + emission[now][observed[t]];
        }
    }

    least = cost[STEPS - 1][0];
    for (uint8_t s = 1; s < STATES; s++) {
        if (cost[STEPS - 1][s] < least) {
            least = cost[STEPS - 1][s];
            last = s;
        }
    }
    path[STEPS - 1] = last;
    for (int t = STEPS - 2; t >= 0; t--) {
        uint8_t chosen = 0;
        float best = cost[t][0] + transition[0][path[t + 1]];

        for (uint8_t s = 1; s < STATES; s++) {
            float through = cost[t][s] + transition[s][path[t + 1]];

            if (through < best) {
                best = through;
                chosen = s;
            }
        }
        path[t] = chosen;
    }
    return least;
}
