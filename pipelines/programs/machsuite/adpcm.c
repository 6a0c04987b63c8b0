/* IMA ADPCM encoder: 16-bit samples to 4-bit steps of an adapted size. A struct, 16-bit and 8-bit types. */
#include <stdint.h>

#ifndef SAMPLES
#define SAMPLES 64
#endif

struct predictor {
    int32_t value;
    int8_t index;
};

static const int16_t step_sizes[89] = {
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80,
    88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544,
    598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024,
    3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899,
    15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
};

static const int8_t index_steps[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

static int32_t clamped(int32_t x, int32_t low, int32_t high)
{
    if (x < low) {
        return low;
    }
    return x > high ? high : x;
}

void adpcm(int16_t samples[SAMPLES], uint8_t codes[SAMPLES / 2])
{
    struct predictor state = {0, 0};

    for (int i = 0; i < SAMPLES; i++) {
        int32_t step = step_sizes[state.index];
        int32_t difference = samples[i] - state.value;
        int32_t change = step >> 3;
        uint8_t code = 0;

        if (difference < 0) {
            code = 8;
            difference = -difference;
        }
        for (int bit = 4; bit > 0; bit >>= 1) {
            if (difference >= step) {
                code |= bit;
                difference -= step;
                change += step;
            }
            step >>= 1;
        }
        state.value = clamped(state.value + (code & 8 ? -change : change), -32768, 32767);
        state.index = (int8_t)clamped(state.index + index_steps[code & 7], 0, 88);
        if (i & 1) {
            codes[i / 2] |= (uint8_t)(code << 4);
        } else {
            codes[i / 2] = code;
        }
    }
}
