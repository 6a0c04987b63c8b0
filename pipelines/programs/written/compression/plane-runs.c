#include <stdint.h>
#include <stdbool.h>

#ifndef SAMPLES
#define SAMPLES 256
#endif
#define PLANES 8
#define LONGEST 63

/*
 * Gray-coded bit planes, runs of equal bits per plane.
 * A plane whose runs would not pay is stored as it is.
 */

typedef struct run_list {
    uint8_t length[SAMPLES];
    unsigned count;
} run_list;

static run_list scratch;

static inline uint8_t gray(uint8_t v) { return (uint8_t)(v ^ (v >> 1)); }

static bool collect(const uint8_t *gray_samples, unsigned plane)
{
    bool level = false;
    unsigned run = 0;

    scratch.count = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        bool bit = (gray_samples[i] >> plane) & 1u;
        if (bit == level && run < LONGEST) {
            run++;
            continue;
        }
        scratch.length[scratch.count++] = (uint8_t)run;
        if (bit != level) {
            level = bit;
            run = 1;
        } else {            /* the run was cut, an empty one of the other level follows */
            if (scratch.count == SAMPLES)
                return false;
            scratch.length[scratch.count++] = 0;
            run = 1;
        }
        if (scratch.count >= SAMPLES / 8)
            return false;   /* six bits a run: raw is shorter */
    }
    scratch.length[scratch.count++] = (uint8_t)run;
    return true;
}

/* returns bits written; chosen[p] is 1 for runs, 0 for a raw plane */
uint32_t plane_runs(const uint8_t *samples, uint8_t *packed, uint8_t chosen[PLANES])
{
    static uint8_t coded[SAMPLES];
    uint32_t at = 0;

    for (unsigned i = 0; i < SAMPLES; i++)
        coded[i] = gray(samples[i]);
    for (unsigned i = 0; i < SAMPLES * 2; i++)
        packed[i] = 0;
    for (int plane = PLANES - 1; plane >= 0; plane--) {
        chosen[plane] = collect(coded, (unsigned)plane);
        if (chosen[plane]) {
            for (unsigned r = 0; r < scratch.count; r++)
                for (unsigned b = 0; b < 6; b++, at++)
                    packed[at >> 3] |= (uint8_t)(((scratch.length[r] >> b) & 1u) << (at & 7u));
        } else {
            for (unsigned i = 0; i < SAMPLES; i++, at++)
                packed[at >> 3] |= (uint8_t)(((coded[i] >> plane) & 1u) << (at & 7u));
        }
    }
    return at;
}
