"""The README's example: the label lies in each interval of the default prediction.

Choice of the example, written before its label or prediction was seen: a plain 16-tap FIR filter over 64
samples, int data, memory delay 2, clock 10 ns, no directives. Reasons: a textbook kernel; two nested loops of
fixed bounds and one multiplication, as most of the training kernels have; neither tiny nor long.
"""

from __future__ import annotations

FIR = """\
void fir(int x[79], int h[16], int y[64]) {
  for (int n = 0; n < 64; n++) {
    int sum = 0;
    for (int k = 0; k < 16; k++) sum += h[k] * x[n + k];
    y[n] = sum;
  }
}
"""
