// Integer motion search: hexagon, then small diamond, then half sample.

#ifndef W
#define W 24
#endif
#ifndef H
#define H 24
#endif
#ifndef PAD
#define PAD 8
#endif

#define BS 8
#define BX (W / BS)
#define BY (H / BS)

struct mv { int x, y; };

static const struct mv Hex[6] = { {-2, 0}, {-1, -2}, {1, -2}, {2, 0}, {1, 2}, {-1, 2} };
static const struct mv Cross[4] = { {0, -1}, {-1, 0}, {1, 0}, {0, 1} };

static int Median3(int a, int b, int c)
{
    int lo = a < b ? a : b, hi = a < b ? b : a;
    return c < lo ? lo : c > hi ? hi : c;
}

static int SignedGolombBits(int v)
{
    unsigned code = v > 0 ? 2u * (unsigned)v : 1u + 2u * (unsigned)(-v);
    int bits = 1;
    for (; code > 1; code >>= 1)
        bits += 2;
    return bits;
}

static int VectorCost(struct mv v, struct mv pred, int lambda)
{
    // vectors are counted in half samples
    return lambda * (SignedGolombBits(2 * v.x - pred.x) + SignedGolombBits(2 * v.y - pred.y));
}

// gives up as soon as it reaches the limit
static int Sad(const unsigned char cur[H][W], const unsigned char ref[H + 2 * PAD][W + 2 * PAD],
               int bx, int by, struct mv v, int limit)
{
    int sum = 0;
    for (int y = 0; y < BS; y++)
    {
        const unsigned char *c = &cur[by + y][bx];
        const unsigned char *r = &ref[by + y + PAD + v.y][bx + PAD + v.x];
        for (int x = 0; x < BS; x++)
        {
            int d = c[x] - r[x];
            sum += d < 0 ? -d : d;
        }
        if (sum >= limit)
            return limit;
    }
    return sum;
}

static int SadHalf(const unsigned char cur[H][W], const unsigned char ref[H + 2 * PAD][W + 2 * PAD],
                   int bx, int by, int hx, int hy)
{
    int ox = bx + PAD + (hx >> 1), oy = by + PAD + (hy >> 1);
    int fx = hx & 1, fy = hy & 1;
    int sum = 0;
    for (int y = 0; y < BS; y++)
        for (int x = 0; x < BS; x++)
        {
            int a = ref[oy + y][ox + x], b = ref[oy + y][ox + x + fx];
            int c = ref[oy + y + fy][ox + x], e = ref[oy + y + fy][ox + x + fx];
            int d = cur[by + y][bx + x] - ((a + b + c + e + 2) >> 2);
            sum += d < 0 ? -d : d;
        }
    return sum;
}

// takes the vector over when it is cheaper than the best one until now
static int Try(const unsigned char cur[H][W], const unsigned char ref[H + 2 * PAD][W + 2 * PAD],
               int bx, int by, struct mv t, struct mv pred, int lambda, struct mv *best, int *cost)
{
    if (t.x <= -PAD || t.x >= PAD || t.y <= -PAD || t.y >= PAD)
        return 0;
    int c = VectorCost(t, pred, lambda);
    if (c >= *cost)
        return 0;
    c += Sad(cur, ref, bx, by, t, *cost - c);
    if (c >= *cost)
        return 0;
    *cost = c, *best = t;
    return 1;
}

int SearchFrame(const unsigned char cur[H][W], const unsigned char ref[H + 2 * PAD][W + 2 * PAD],
                int lambda, int mvs[BY][BX][2])
{
    int total = 0;

    for (int j = 0; j < BY; j++)
    {
        for (int i = 0; i < BX; i++)
        {
            static const int none[2] = {0, 0};
            const int *left = i ? mvs[j][i - 1] : none, *up = j ? mvs[j - 1][i] : none;
            const int *diag = j ? mvs[j - 1][i + 1 < BX ? i + 1 : i - (i > 0)] : none;
            struct mv pred = { Median3(left[0], up[0], diag[0]), Median3(left[1], up[1], diag[1]) };
            struct mv start = { pred.x / 2, pred.y / 2 }, best = { 0, 0 }, centre;

            int cost = Sad(cur, ref, i * BS, j * BS, best, 1 << 20) + VectorCost(best, pred, lambda);
            Try(cur, ref, i * BS, j * BS, start, pred, lambda, &best, &cost);

            // big steps while they help, at most PAD of them
            int moved, rounds = 0;
            do
            {
                centre = best;
                moved = 0;
                for (int k = 0; k < 6; k++)
                {
                    struct mv t = { centre.x + Hex[k].x, centre.y + Hex[k].y };
                    moved |= Try(cur, ref, i * BS, j * BS, t, pred, lambda, &best, &cost);
                }
            } while (moved && ++rounds < PAD);

            centre = best;
            for (int k = 0; k < 4; k++)
            {
                struct mv t = { centre.x + Cross[k].x, centre.y + Cross[k].y };
                Try(cur, ref, i * BS, j * BS, t, pred, lambda, &best, &cost);
            }

            int hx = 2 * best.x, hy = 2 * best.y;
            for (int k = 0; k < 4; k++)
            {
                int tx = 2 * best.x + Cross[k].x, ty = 2 * best.y + Cross[k].y;
                int c = SadHalf(cur, ref, i * BS, j * BS, tx, ty)
                      + lambda * (SignedGolombBits(tx - pred.x) + SignedGolombBits(ty - pred.y));
                if (c >= cost)
                    continue;
                cost = c, hx = tx, hy = ty;
            }
            mvs[j][i][0] = hx;
            mvs[j][i][1] = hy;
            total += cost;
        }
    }
    return total;
}
