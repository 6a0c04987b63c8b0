#ifndef DIM
#define DIM 40
#endif
#define INF 30000
#define AT(x, y) d[(y) * DIM + (x)]
#define RELAX(v, cand) do { int c_ = (cand); if (c_ < (v)) (v) = (short)c_; } while (0)

/* 5-7-11 chamfer distance to the nearest obstacle, then a greedy clearance path:
   start in the middle and climb to the local maximum of clearance. */
int clearance_climb(const unsigned char occ[DIM * DIM], short d[DIM * DIM], int density, int *peak_x, int *peak_y)
{
  int x, y;
  for (y = 0; y < DIM; ++y)
    for (x = 0; x < DIM; ++x) {
      AT(x, y) = occ[y * DIM + x] < density ? 0 : INF;
      if (y > 0) {
        RELAX(AT(x, y), AT(x, y - 1) + 5);
        if (x > 0) RELAX(AT(x, y), AT(x - 1, y - 1) + 7);
        if (x < DIM - 1) RELAX(AT(x, y), AT(x + 1, y - 1) + 7);
        if (x > 1) RELAX(AT(x, y), AT(x - 2, y - 1) + 11);
        if (x < DIM - 2) RELAX(AT(x, y), AT(x + 2, y - 1) + 11);
      }
      if (y > 1) {
        if (x > 0) RELAX(AT(x, y), AT(x - 1, y - 2) + 11);
        if (x < DIM - 1) RELAX(AT(x, y), AT(x + 1, y - 2) + 11);
      }
      if (x > 0) RELAX(AT(x, y), AT(x - 1, y) + 5);
    }
  for (y = DIM - 1; y >= 0; --y)
    for (x = DIM - 1; x >= 0; --x) {
      if (y < DIM - 1) {
        RELAX(AT(x, y), AT(x, y + 1) + 5);
        if (x > 0) RELAX(AT(x, y), AT(x - 1, y + 1) + 7);
        if (x < DIM - 1) RELAX(AT(x, y), AT(x + 1, y + 1) + 7);
        if (x > 1) RELAX(AT(x, y), AT(x - 2, y + 1) + 11);
        if (x < DIM - 2) RELAX(AT(x, y), AT(x + 2, y + 1) + 11);
      }
      if (y < DIM - 2) {
        if (x > 0) RELAX(AT(x, y), AT(x - 1, y + 2) + 11);
        if (x < DIM - 1) RELAX(AT(x, y), AT(x + 1, y + 2) + 11);
      }
      if (x < DIM - 1) RELAX(AT(x, y), AT(x + 1, y) + 5);
    }

  x = y = DIM / 2;
  for (;;) {
    int bx = x, by = y;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        int u = x + i, v = y + j;
        if (u < 0 || v < 0 || u >= DIM || v >= DIM) continue;
        if (AT(u, v) > AT(bx, by)) { bx = u; by = v; }
      }
    if (bx == x && by == y) break;
    x = bx;
    y = by;
  }
  *peak_x = x;
  *peak_y = y;
  return AT(x, y);
}

int main(void)
{
  static unsigned char occ[DIM * DIM];
  static short d[DIM * DIM];
  int x, y;
  for (int i = 0; i < DIM * DIM; ++i) occ[i] = i < DIM ? 0 : 200;   /* wall along the top */
  return clearance_climb(occ, d, 10, &x, &y) == 5 * (DIM - 1) ? 0 : 1;
}
