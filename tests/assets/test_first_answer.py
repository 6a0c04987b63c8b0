"""The README's example: the label lies in each interval of the default prediction.

Choices of the example, each written before its prediction was seen (no directives, memory delay 2, 10 ns):

1. A plain 16-tap FIR filter over 64 samples. Its label lay in every interval (area 15 % and flip-flops 6 % off,
   cycles exact), but its text has 79 tokens and 10 names, and the shortest training program 81 and 12. So it
   is not inside the range of training.
2. The same filter with a rounded shift of the sum, as fixed-point filters have. Chosen by its features alone:
   all lie inside the range of training.
"""

from __future__ import annotations

FIR = """\
void fir(int x[79], int h[16], int y[64]) {
  const int half = 1 << 7;
  for (int n = 0; n < 64; n++) {
    int sum = half;
    for (int k = 0; k < 16; k++) sum += h[k] * x[n + k];
    y[n] = sum >> 8;
  }
}
"""
