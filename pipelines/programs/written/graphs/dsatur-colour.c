#include <stdint.h>
#ifndef NODES
#define NODES 48
#endif

typedef uint64_t mask_t;

/* DSATUR colouring of the conflict graph of register live ranges: ranges
 * [start, start+len) that overlap get different registers (bits of a mask).
 * Ranges that need more than 64 registers are spilled (255).
 */
static mask_t forbidden[NODES];
static uint8_t degree[NODES];
static uint8_t conflict[NODES][NODES];

static unsigned popcount64(mask_t m)
{
    unsigned n = 0;
    for (; m; m &= m - 1) n++;
    return n;
}

int assign_registers(const uint16_t *start, const uint8_t *len, int nregs, uint8_t *reg)
{
    int done = 0, spilled = 0;
    mask_t all = nregs >= 64 ? ~(mask_t)0 : ((mask_t)1 << nregs) - 1;

    for (int i = 0; i < NODES; i++) {
        forbidden[i] = 0;
        degree[i] = 0;
        reg[i] = 254;
        for (int j = 0; j < NODES; j++) {
            int hit = i != j && start[i] < start[j] + len[j] && start[j] < start[i] + len[i];
            conflict[i][j] = (uint8_t)hit;
            degree[i] = (uint8_t)(degree[i] + hit);
        }
    }

    while (done++ < NODES) {
        int pick = -1;
        unsigned best = 0;
        for (int i = 0; i < NODES; i++) {
            if (reg[i] != 254) continue;
            unsigned rank = popcount64(forbidden[i]) * 256 + degree[i] + 1;
            if (rank > best) { best = rank; pick = i; }
        }
        mask_t avail = all & ~forbidden[pick];
        if (!avail) {
            reg[pick] = 255;
            spilled++;
            continue;
        }
        uint8_t r = 0;
        while (!(avail & 1)) { avail >>= 1; r++; }
        reg[pick] = r;
        for (int j = 0; j < NODES; j++)
            if (conflict[pick][j])
                forbidden[j] |= (mask_t)1 << r;
    }
    return spilled;
}
