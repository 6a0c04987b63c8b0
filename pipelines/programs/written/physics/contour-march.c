#include <math.h>
#include <stdio.h>

#ifndef GW
#define GW 20
#endif
#ifndef GH
#define GH 16
#endif
#ifndef NLEVEL
#define NLEVEL 3
#endif

/* Marching squares over a height map: length of the contour and area above,
   for several levels. Edges of a cell: 0 bottom, 1 right, 2 top, 3 left. */

static const signed char SEGS[16][4] = {
  { -1, -1, -1, -1 }, { 3, 0, -1, -1 }, { 0, 1, -1, -1 }, { 3, 1, -1, -1 },
  { 1, 2, -1, -1 },   { 3, 0, 1, 2 },   { 0, 2, -1, -1 }, { 3, 2, -1, -1 },
  { 2, 3, -1, -1 },   { 2, 0, -1, -1 }, { 0, 1, 2, 3 },   { 2, 1, -1, -1 },
  { 1, 3, -1, -1 },   { 1, 0, -1, -1 }, { 0, 3, -1, -1 }, { -1, -1, -1, -1 },
};

static double cut(double a, double b, double lev) {
  double d = b - a;
  return fabs(d) < 1e-12 ? 0.5 : (lev - a) / d;
}

static void edge_point(int e, const double z[4], double lev, double *x, double *y) {
  switch (e) {
    case 0: *x = cut(z[0], z[1], lev); *y = 0.0; break;
    case 1: *x = 1.0; *y = cut(z[1], z[2], lev); break;
    case 2: *x = 1.0 - cut(z[2], z[3], lev); *y = 1.0; break;
    default: *x = 0.0; *y = 1.0 - cut(z[3], z[0], lev); break;
  }
}

int contour_stats(const double height[GH][GW], const double levels[NLEVEL],
                  double length[NLEVEL], double share[NLEVEL]) {
  int segments = 0;

  for (int k = 0; k < NLEVEL; ++k) {
    double lev = levels[k], len = 0.0;
    long above = 0;

    for (int j = 0; j + 1 < GH; ++j) {
      for (int i = 0; i + 1 < GW; ++i) {
        const double z[4] = { height[j][i], height[j][i + 1], height[j + 1][i + 1], height[j + 1][i] };
        int code = 0;
        for (int c = 0; c < 4; ++c) code |= (z[c] > lev) << c;
        above += code == 15;
        /* saddle: the mean decides which corners belong together */
        if ((code == 5 || code == 10) && 0.25 * (z[0] + z[1] + z[2] + z[3]) > lev)
          code = 15 - code;
        for (const signed char *s = SEGS[code], *e = s + 4; s < e && *s >= 0; s += 2) {
          double x0, y0, x1, y1;
          edge_point(s[0], z, lev, &x0, &y0);
          edge_point(s[1], z, lev, &x1, &y1);
          len += hypot(x1 - x0, y1 - y0);
          ++segments;
        }
      }
    }
    length[k] = len;
    share[k] = (double)above / ((GH - 1) * (GW - 1));
  }
  return segments;
}

int main(void) {
  static double h[GH][GW];
  double lev[NLEVEL], len[NLEVEL], sh[NLEVEL];
  for (int j = 0; j < GH; ++j)
    for (int i = 0; i < GW; ++i) h[j][i] = sin(0.4 * i) * cos(0.3 * j);
  for (int k = 0; k < NLEVEL; ++k) lev[k] = -0.5 + 0.5 * k;
  printf("%d segments\n", contour_stats(h, lev, len, sh));
  return 0;
}
