"""A tiny model that is trained once for all tests, and programs to read."""

from __future__ import annotations

from models.program_lm import TrainingOptions

TINY = TrainingOptions(programs=12, examples=6, width=24, layers=2, heads=2, steps=12, batch_size=8)

PROGRAM = """#include <stdint.h>

#define ROWS 4
#define COLS 6
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

void top(int rows, const int16_t x[ROWS][COLS], int32_t out[ROWS], float scale, float soft[COLS])
{
    int32_t total = 300000;
    for (int i = 0; i < rows; i++) {
        int16_t part[COLS];
        for (int j = COLS - 1; j >= 0; j--)
            part[j] = x[i][j] + 1;
        for (int t = 0; t < COLS; t += 4)
            for (int j = t; j < MIN(t + 4, COLS); j++) {
                if (part[j] > 0)
                    total += part[j] * x[i][(j + 1) % COLS];
                else
                    total = clamp(total, -77777, 4);
            }
        out[i] = total >> 2;
    }
    int bits = 9;
    while (bits > 0) {
        bits >>= 1;
        total ^= bits;
    }
    for (int j = 0; j < COLS; j++)
        soft[j] = scale * 0.37f + soft[j];
}
"""
