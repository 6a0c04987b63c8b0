#include <stdint.h>
#include <string.h>

#ifndef FRAMES
#define FRAMES 48
#endif
#ifndef LABELS
#define LABELS 10
#endif
#ifndef ALPHA
#define ALPHA 16      /* symbols, 0 is the blank */
#endif

#define STATES (2 * LABELS + 1)
#define COST_MAX 1000000

/* Forced alignment: best path of the label sequence (blanks between labels)
 * through the frame costs. Costs are -log p in 1/16 nat. path[t] gets the state.
 */
int ctc_force_align(const uint8_t cost[][ALPHA], const uint8_t *label, uint8_t *path)
{
    static uint8_t from[FRAMES][STATES];
    int32_t cur[STATES], nxt[STATES];

#define SYM(s) (((s) & 1) ? label[(s) >> 1] : 0)

    for (int s = 0; s < STATES; s++)
        cur[s] = s < 2 ? cost[0][SYM(s)] : COST_MAX;
    memset(from, 0, sizeof from);

    for (int t = 1; t < FRAMES; t++) {
        for (int s = 0; s < STATES; s++) {
            int32_t best = cur[s];
            uint8_t step = 0;
            if (s >= 1 && cur[s - 1] < best) {
                best = cur[s - 1];
                step = 1;
            }
            if (s >= 2 && (s & 1) && SYM(s) != SYM(s - 2) && cur[s - 2] < best) {
                best = cur[s - 2];
                step = 2;
            }
            nxt[s] = best >= COST_MAX ? COST_MAX : best + cost[t][SYM(s)];
            from[t][s] = step;
        }
        memcpy(cur, nxt, sizeof cur);
    }

    int s = cur[STATES - 1] <= cur[STATES - 2] ? STATES - 1 : STATES - 2;
    int32_t total = cur[s];
    if (total >= COST_MAX)
        return -1;              /* fewer frames than labels need */
    for (int t = FRAMES - 1; t >= 0; t--) {
        path[t] = (uint8_t)s;
        s -= from[t][s];
    }
#undef SYM
    return total;
}
