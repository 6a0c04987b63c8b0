#ifndef SIDE
#define SIDE 10
#endif
#ifndef SWEEPS
#define SWEEPS 60
#endif

#define IS_WALL(x) ((x) == 1)

enum { UP, RIGHT, DOWN, LEFT };

static const int dR[4] = { -1, 0, 1, 0 };
static const int dC[4] = { 0, 1, 0, -1 };

/* value of bumping into the border or a wall: stay */
static long look(const long *v, const unsigned char *wall, int r, int c, int dir)
{
  int nr = r + dR[dir], nc = c + dC[dir];
  if (nr < 0 || nc < 0 || nr >= SIDE || nc >= SIDE || IS_WALL (wall[nr * SIDE + nc])) return v[r * SIDE + c];
  return v[nr * SIDE + nc];
}

/* Value iteration in a slippery grid world: 3/4 intended direction, 1/8 to each
   side. gamma = gamma8 / 256. Values are Q8. Stops once nothing moves by more
   than eps. Returns the number of sweeps. */
int plan_grid(const short *reward, const unsigned char *wall, int gamma8, long eps, long *v, char *policy)
{
  int sweep, r, c, a;
  for (r = 0; r < SIDE * SIDE; r++) v[r] = 0;

  for (sweep = 1; sweep <= SWEEPS; sweep++)
    {
      long worst = 0;
      for (r = 0; r < SIDE; r++)
        for (c = 0; c < SIDE; c++)
          {
            long best = 0, old = v[r * SIDE + c], diff;
            if (IS_WALL (wall[r * SIDE + c])) { policy[r * SIDE + c] = '#'; continue; }
            for (a = 0; a < 4; a++)
              {
                long q = 6 * look (v, wall, r, c, a)
                         + look (v, wall, r, c, (a + 1) & 3) + look (v, wall, r, c, (a + 3) & 3);
                q = reward[r * SIDE + c] + gamma8 * (q / 8) / 256;
                if (a == 0 || q > best) { best = q; policy[r * SIDE + c] = "^>v<"[a]; }
              }
            v[r * SIDE + c] = best;          /* in place, Gauss-Seidel */
            diff = best - old;
            if (diff < 0) diff = -diff;
            if (diff > worst) worst = diff;
          }
      if (worst <= eps) return sweep;
    }
  return -1;
}
