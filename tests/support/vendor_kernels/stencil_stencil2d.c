/* MachSuite stencil/stencil2d: a filter of 3 x 3 over 128 x 64. */

void stencil(int orig[8192], int sol[8192], int filter[9]) {
  for (int r = 0; r < 126; r++) {
    for (int c = 0; c < 62; c++) {
      int temp = 0;
      for (int k1 = 0; k1 < 3; k1++) {
        for (int k2 = 0; k2 < 3; k2++) {
          temp += filter[k1 * 3 + k2] * orig[(r + k1) * 64 + c + k2];
        }
      }
      sol[r * 64 + c] = temp;
    }
  }
}
