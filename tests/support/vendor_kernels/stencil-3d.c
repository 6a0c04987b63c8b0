/* MachSuite stencil/stencil3d: seven points of 32 x 32 x 32, its inner loops alone (30 each; the copies of the
   sides, to which no directive belongs, are left out). */

void stencil3d(long C0, long C1, long orig[39304], long sol[32768]) {
  for (int i = 1; i < 31; i++) {
    for (int j = 1; j < 31; j++) {
      for (int k = 1; k < 31; k++) {
        long sum0 = orig[k + 32 * (j + 32 * i)];
        long sum1 = orig[k + 32 * (j + 32 * (i + 1))] + orig[k + 32 * (j + 32 * (i - 1))] +
                    orig[k + 32 * (j + 1 + 32 * i)] + orig[k + 32 * (j - 1 + 32 * i)] +
                    orig[k + 1 + 32 * (j + 32 * i)] + orig[k - 1 + 32 * (j + 32 * i)];
        sol[k + 32 * (j + 32 * i)] = sum0 * C0 + sum1 * C1;
      }
    }
  }
}
