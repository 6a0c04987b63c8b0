#include <stdint.h>

#ifndef TEXT_LEN
#define TEXT_LEN 900
#endif
#ifndef PAT_LEN
#define PAT_LEN 12
#endif
#ifndef MAX_ERR
#define MAX_ERR 3
#endif

/** Approximate search (Wu & Manber): bit i of R[k] is set when the first i+1
 *  characters of the pattern match up to here with at most k errors.
 *  '*' in dna stands for any base. Reports end positions with the least error. */
uint32_t fuzzy_find(const uint8_t *text, const uint8_t *pattern, uint16_t *end_pos, uint8_t *errors)
{
    uint32_t mask[5] = {0};
    uint32_t R[MAX_ERR + 1], found = 0;
    const uint32_t goal = 1u << (PAT_LEN - 1);

    for (int i = 0; i < PAT_LEN; ++i) {
        if (pattern[i] >= 4)
            for (int b = 0; b < 4; ++b) mask[b] |= 1u << i;
        else
            mask[pattern[i]] |= 1u << i;
    }
    for (int k = 0; k <= MAX_ERR; ++k)
        R[k] = (1u << k) - 1u;                      /* k deletions */

    for (int t = 0; t < TEXT_LEN; ++t) {
        uint32_t m = mask[text[t] < 4 ? text[t] : 4];
        uint32_t prev_old = R[0];
        R[0] = ((R[0] << 1) | 1u) & m;
        uint32_t prev_new = R[0];
        for (int k = 1; k <= MAX_ERR; ++k) {
            uint32_t old = R[k];
            R[k] = ((((old << 1) | 1u) & m)         /* match */
                 | prev_old                         /* insertion */
                 | (prev_old << 1)                  /* substitution */
                 | (prev_new << 1) | 1u);           /* deletion */
            prev_old = old;
            prev_new = R[k];
        }
        for (int k = 0; k <= MAX_ERR; ++k)
            if (R[k] & goal) {
                end_pos[found] = (uint16_t)t;
                errors[found++] = (uint8_t)k;
                break;
            }
    }
    return found;
}
