"""Programs of every type, for the tests of the cycle model."""

from __future__ import annotations

EVERY_TYPE = """
#include <stdint.h>
double f(int8_t a[16], uint16_t b[16], int64_t c[16], float x[16], double y[16], uint64_t u, float k)
{
    double s = 0;
    for (int i = 0; i < 16; i++) {
        a[i] = a[i] * 3 + b[i];
        b[i] = (uint16_t)(b[i] << (i & 7)) ^ (uint16_t)c[i];
        c[i] += (int64_t)a[i] * b[i] + (int64_t)(u >> (i & 31));
        x[i] = x[i] * k + (float)c[i];
        y[i] = y[i] / (1.0 + x[i] * x[i]) - (double)a[i];
        if (y[i] > 0.5) s += y[i]; else s -= x[i];
    }
    return s;
}
"""

NARROW = """
unsigned char f(unsigned char A[32], short B[32])
{
    unsigned char h = 0;
    for (int i = 0; i < 32; i++) {
        h = (h << 1) ^ A[i] ^ (h >> 3);
        B[i] = (short)(B[i] * h) / 7 + B[i] % 5;
    }
    return h;
}
"""

EARLY_EXIT = """
float f(float A[32], int n)
{
    float s = 1;
    int i = 0;
    while (i < n && s < 1000.0f) {
        s = s * 1.5f + A[i];
        i++;
        if (A[i] < 0.0f) break;
    }
    A[0] = -s;
    return s;
}
"""

TABLES_AND_SWITCH = """
static const unsigned short T[8] = {1, 2, 4, 8, 16, 32, 64, 65535};
long f(int A[8])
{
    long s = 0;
    int local[4] = {1, 2, 3};
    for (int i = 0; i < 8; i++) {
        switch (A[i] & 3) {
        case 0: s += T[i]; break;
        case 1: s -= T[i]; continue;
        default: s ^= local[i & 3];
        }
        local[i & 3] = (int)s;
    }
    return s;
}
"""

PROGRAMS = {
    "every type": EVERY_TYPE,
    "narrow": NARROW,
    "early exit": EARLY_EXIT,
    "tables and switch": TABLES_AND_SWITCH,
}
