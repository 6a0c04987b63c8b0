#include <stdint.h>

static uint32_t lfsr_state = 0xACE1u;

static uint32_t lfsr_next(void)
{
    uint32_t bit = ((lfsr_state >> 0) ^ (lfsr_state >> 2) ^ (lfsr_state >> 3) ^ (lfsr_state >> 5)) & 1u;
    lfsr_state = (lfsr_state >> 1) | (bit << 15);
    return lfsr_state;
}

void lfsr_seed(uint32_t seed) { lfsr_state = seed ?: 1; }

void lfsr_fill(uint32_t seed, uint16_t *out, int n)
{
    lfsr_seed(seed);
    for (int i = 0; i < n; i++)
        out[i] = (uint16_t)lfsr_next();
}
