/* Cost map for a small robot: exact Euclidean distance to the next obstacle
   (two passes, integer only), then a cost that falls off with the distance. */

#ifndef GX
#define GX 32
#endif
#ifndef GY
#define GY 32
#endif

#define FAR (GX + GY)

/* cost by squared distance in cells up to 48; lethal inside of the robot */
static const unsigned char falloff[49] =
{ 254, 254, 253, 230, 225, 210, 196, 185, 180, 172, 164, 155, 148, 140, 132, 125, 118,
  110, 104,  98,  92,  86,  80,  75,  70,  66,  62,  58,  54,  50,  46,  43,  40,
   37,  34,  31,  28,  26,  24,  22,  20,  18,  16,  14,  12,  10,   8,   6,   4 };

static int g[GY][GX];           /* distance along the column */
static int site[GX], from[GX];  /* lower envelope of one row */

static long parabola(const int *col, int x, int i)
{
  return (long)(x - i) * (x - i) + (long)col[i] * col[i];
}

/* last x at which i (left) is not worse than u (right) */
static long border(const int *col, int i, int u)
{
  long num = (long)u * u - (long)i * i
           + (long)col[u] * col[u] - (long)col[i] * col[i];
  return num / (2 * (u - i));
}

static void columns(const unsigned char *occupied)
{
  int x, y;

  for (x = 0; x < GX; x++) {
    g[0][x] = occupied[x] ? 0 : FAR;
    for (y = 1; y < GY; y++)
      if (occupied[y * GX + x])
        g[y][x] = 0;
      else
        g[y][x] = g[y-1][x] < FAR ? g[y-1][x] + 1 : FAR;
    for (y = GY - 2; y >= 0; y--)
      if (g[y+1][x] < g[y][x])
        g[y][x] = g[y+1][x] + 1;
  }
}

/* widest[] gets x, y and the squared distance of the roomiest cell */
void cost_map(const unsigned char *obstacles, unsigned char limit,
              unsigned short *dist2, unsigned char *cost, int widest[3])
{
  static unsigned char occupied[GX * GY];
  int x, y, k;

  for (k = 0; k < GX * GY; k++)
    occupied[k] = obstacles[k] < limit;
  columns(occupied);

  widest[0] = widest[1] = 0;
  widest[2] = -1;

  for (y = 0; y < GY; y++) {
    const int *col = g[y];
    int q = 0;

    site[0] = from[0] = 0;
    for (x = 1; x < GX; x++) {
      while (q >= 0 && parabola(col, from[q], site[q]) > parabola(col, from[q], x))
        q--;
      if (q < 0) {
        q = 0;
        site[0] = x;
      } else {
        long w = 1 + border(col, site[q], x);
        if (w < GX) {
          q++;
          site[q] = x;
          from[q] = (int)w;
        }
      }
    }

    for (x = GX - 1; x >= 0; x--) {
      long d = parabola(col, x, site[q]);
      int at = y * GX + x;

      if (x == from[q])
        q--;
      dist2[at] = d > 65535 ? 65535 : (unsigned short)d;
      cost[at] = d > 48 ? 0 : falloff[d];
      if (d > widest[2]) {
        widest[0] = x;
        widest[1] = y;
        widest[2] = (int)d;
      }
    }
  }
}
